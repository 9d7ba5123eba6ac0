package progress

// Lone returns the handle of an operation that has ended with res and is of no
// rank. It may be completed together with the requests of any one loop. Unlike
// others such a handle, and its copies, are for one goroutine at a time. It is
// local.
//
// Its loop is one that has been closed and has no peers, of its own.
func Lone(res Result) Handle {
	l := &Loop{over: true}
	l.parked.init()
	r := &Request{loop: l, gen: instant + 1, Result: res, done: true}
	return r.Handle()
}

// lone reports whether the loop is that of a handle of Lone.
func (l *Loop) lone() bool { return len(l.conns) == 0 }
