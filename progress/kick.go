package progress

import "sync/atomic"

// Kick is work of a protocol for the owner of the loop that any goroutine asks
// for, again and again. Requests are not counted: the work is done once for all
// that come before it begins.
type Kick struct {
	loop *Loop
	work func()
	w    Waiter
	// queued is set by whoever queues w, and cleared before work is called: what
	// was stored before a Do that found it set is seen by that call of work.
	queued atomic.Bool
}

// NewKick makes a Kick. work is called as the owner and never blocks; it is also
// called when the loop is over. Local.
func (l *Loop) NewKick(work func()) *Kick {
	k := &Kick{loop: l, work: work}
	k.w.node.w = &k.w
	k.w.fn = func() {
		k.queued.Store(false)
		work()
	}
	return k
}

// Do has the work done: by the caller if nobody owns the loop, else by the owner,
// soon. It takes no lock, waits for nobody and allocates nothing.
func (k *Kick) Do() {
	l := k.loop
	if l.Enter() {
		k.work()
		l.Leave()
		return
	}
	if !k.queued.Swap(true) {
		l.push(&k.w.node)
	}
}
