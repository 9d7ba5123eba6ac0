package progress

// Detachments is the number of requests in flight with a callback at completion
// (OnEnd), which may do anything. For the owner.
func (l *Loop) Detachments() int { return l.detachments }

// Blocked calls f with each request that a goroutine waits for. who identifies
// that goroutine, and need is how many of its unfinished requests must still
// complete. For the owner.
func (l *Loop) Blocked(f func(r *Request, who any, need int)) {
	l.requests.each(func(r *Request) {
		if r.Waited() {
			f(r, r.waiter, r.waiter.need)
		}
	})
}
