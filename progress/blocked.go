package progress

// Detachments is how many requests in flight have a callback for their end, which
// may do anything (OnEnd). For the owner.
func (l *Loop) Detachments() int { return l.detachments }

// Blocked calls f with each request that a goroutine waits for: who is that
// goroutine, told from others, and need how many of its requests that have not
// ended still have to. For the owner.
func (l *Loop) Blocked(f func(r *Request, who any, need int)) {
	l.requests.each(func(r *Request) {
		if r.Waited() {
			f(r, r.waiter, r.waiter.need)
		}
	})
}
