package progress

// A start of a persistent request that has come to where it waits for one message may be
// held: most programs wait for it next, and that call then goes on by itself, as a
// blocking one would, without a request for the message. Any other owner of the loop begins
// it once more before it does anything else, so no event passes it. The word of ownership
// says that there is one, with a value of its own, so that others have nothing to check.

// Carrier is the sink of requests that are held.
type Carrier interface {
	Sink
	// Carry goes on with a held request, for the goroutine that waits for it and owns the
	// loop. It may poll.
	Carry(r *Request)
}

// Hold reports whether the start under way of a request, whose sink is a Carrier, is held:
// then Carry is called, or Start once more. For the sink, in Start.
func (l *Loop) Hold(r *Request) bool {
	if !l.mayHold || l.poller != nil || l.parked.first() != nil || r.timed {
		return false
	}
	l.mayHold, l.holding = false, r
	l.steps++
	l.Rouse() // as for a part of a longer operation, see Step
	return true
}

// leaveHolding is Leave with a request that is held. No waiter is left.
func (l *Loop) leaveHolding() {
	l.checkLeave()
	l.owned.give(heldWord)
	if !l.queue.empty() {
		l.drainLate()
	}
}

// take makes the caller the owner if there is none.
func (l *Loop) take() bool { return l.owned.take(freeWord) || l.takeHeld() }

// takeHeld is take where the word is not free. It begins the request that is held.
//
//go:noinline
func (l *Loop) takeHeld() bool {
	for l.owned.is(heldWord) {
		if l.owned.take(heldWord) {
			r := l.unhold()
			l.Begin(r.sink, r)
			return true
		}
		if l.owned.take(freeWord) {
			return true
		}
	}
	return false
}

func (l *Loop) unhold() (r *Request) {
	r, l.holding = l.holding, nil
	l.steps--
	return r
}

// enterFor is Enter, where a request is held, for a wait for the request of h, which it carries on if that is held and
// nothing else is to be done.
func (l *Loop) enterFor(h Handle) bool {
	if !l.owned.take(heldWord) {
		return l.Enter()
	}
	r := l.unhold()
	if r != h.r || r.gen != h.gen || l.over || !l.queue.empty() {
		l.Begin(r.sink, r)
		l.drain()
		return true
	}
	r.sink.(Carrier).Carry(r)
	return true
}
