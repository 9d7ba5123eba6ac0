package progress

// Lone returns the handle of an operation that has completed with res and
// belongs to no rank. It may be completed together with the requests of any one
// loop. Unlike other handles, it and its copies are for one goroutine at a time.
// Local.
//
// Its loop is a closed one of its own, without peers.
func Lone(res Result) Handle {
	l := &Loop{over: true}
	l.parked.init()
	r := &Request{loop: l, gen: instant + 1, Result: res, done: true, special: true} // so that no other loop frees it
	return r.Handle()
}

// lone reports whether the loop is that of a handle of Lone.
func (l *Loop) lone() bool { return len(l.conns) == 0 }
