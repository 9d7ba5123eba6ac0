package progress

import (
	"bytes"
	"runtime/debug"
)

// Callbacks have a goroutine of their own, which begins with the first call and
// ends when there is none left: the progress thread goes on whatever they do. In
// between it polls as a waiter does before that sleeps, since the messages of
// programs that consist of callbacks come one after another.

// callbacks are the calls to make. They belong to the owner of the loop.
type callbacks struct {
	ready []*detached   // oldest first
	ended chan struct{} // closed when the goroutine ends; nil: there is none
	w     *Waiter       // the goroutine polls for the next call
}

// call leaves d to the goroutine of callbacks. For the owner.
func (l *Loop) call(d *detached) {
	c := &l.callbacks
	c.ready = append(c.ready, d)
	switch w := c.w; {
	case c.ended == nil:
		c.ended, l.woke = make(chan struct{}), true
		go l.callAll(nil)
	case w != nil:
		c.w = nil
		l.lessen(w)
	}
}

// callAll makes the calls, those of ds first. One that ends its goroutine does not
// end the others.
func (l *Loop) callAll(ds []*detached) {
	defer func() {
		if len(ds) > 0 {
			go l.callAll(ds[1:])
		}
	}()
	for {
		for ; len(ds) > 0; ds = ds[1:] {
			d := ds[0]
			ds[0] = nil // what it holds may go
			d.fn(d.st, d.err)
		}
		l.reenter()
		c := &l.callbacks
		if len(c.ready) == 0 && l.threaded && l.detachments > 0 && l.poller == nil && !l.over {
			l.pollForCall()
		}
		if ds, c.ready = c.ready, nil; len(ds) == 0 {
			close(c.ended)
			c.ended = nil
			l.Leave()
			return
		}
		l.Leave()
	}
}

// pollForCall polls until there is a call to make, or for as long as a waiter polls
// in vain. For the owner.
func (l *Loop) pollForCall() {
	w := newWaiter()
	w.need, l.callbacks.w = 1, w
	l.beginPoll(w)
	if l.poll(w); l.poller == w {
		l.endPoll(w)
	}
	l.callbacks.w = nil
	w.recycle()
}

// endCalls waits until all calls have been made, unless one of them asks for that: the
// stack of a deep goroutine leaves out frames in its middle, but not its first.
func (l *Loop) endCalls() {
	if bytes.Contains(debug.Stack(), []byte("weft/progress.(*Loop).callAll(")) {
		return
	}
	var ended chan struct{}
	l.Exclusive(func() { ended = l.callbacks.ended })
	if ended != nil {
		<-ended
	}
}
