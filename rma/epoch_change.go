package rma

// change is a call that opens or closes an epoch, under way. Its goroutine calls end
// or cancel, once.
type change struct {
	e         *epochs
	was       epochState
	target    int32 // of Lock and Unlock, else −1
	call      Call
	assert    Assert
	exclusive bool // the kind of the lock, of Lock and Unlock
	byCall    bool // the lock is taken or held so
}

// fence begins Fence (MPI-4.0 §12.5.1). It ends a fence epoch. Then operations may
// open the next one, unless the assertion is NoSucceed.
func (e *epochs) fence(a Assert) (change, error) { return e.begin(CallFence, -1, a) }

// start begins Start (MPI-4.0 §12.5.2) for targets, of which it keeps no reference.
func (e *epochs) start(a Assert, targets []int) (change, error) {
	ch, err := e.begin(CallStart, -1, a)
	if err == nil {
		for _, t := range targets {
			w, place := e.grow(t).of(t)
			w.Or(claimed << place)
		}
	}
	return ch, err
}

// complete begins Complete (MPI-4.0 §12.5.2).
func (e *epochs) complete() (change, error) {
	ch, err := e.begin(CallComplete, -1, 0)
	if err == nil {
		e.keep(claimed)
	}
	return ch, err
}

// post begins Post (MPI-4.0 §12.5.2).
func (e *epochs) post(a Assert) (change, error) { return e.begin(CallPost, -1, a) }

// wait begins Wait (MPI-4.0 §12.5.2).
func (e *epochs) wait() (change, error) { return e.begin(CallWait, -1, 0) }

// test begins Test (MPI-4.0 §12.5.2). One that answers false is cancelled.
func (e *epochs) test() (change, error) { return e.begin(CallTest, -1, 0) }

// lockAll begins LockAll (MPI-4.0 §12.5.3).
func (e *epochs) lockAll(a Assert) (change, error) { return e.begin(CallLockAll, -1, a) }

// unlockAll begins UnlockAll (MPI-4.0 §12.5.3).
func (e *epochs) unlockAll() (change, error) { return e.begin(CallUnlockAll, -1, 0) }

// free begins Free (MPI-4.0 §12.2.5). After its end nothing is allowed.
func (e *epochs) free() (change, error) { return e.begin(CallFree, -1, 0) }

// lock begins Lock (MPI-4.0 §12.5.3).
func (e *epochs) lock(target int, alone bool, a Assert) (change, error) {
	bits := uint64(0)
	if alone {
		bits = exclusive
	}
	return e.claim(target, bits, a)
}

// lockByCall is lock for a shared lock that the call takes itself.
func (e *epochs) lockByCall(target int, a Assert) (change, error) { return e.claim(target, byCall, a) }

func (e *epochs) claim(target int, bits uint64, a Assert) (change, error) {
	ch, err := e.begin(CallLock, target, a)
	if err != nil {
		return ch, err
	}
	ch.exclusive, ch.byCall = bits&exclusive != 0, bits&byCall != 0
	bits |= claimed
	for w, place := e.grow(target).of(target); ; {
		old := w.Load()
		if old>>place&claimed != 0 {
			e.uncount(0)
			return change{}, e.refuse(CallLock, target, e.load(), lockedTwice)
		}
		if w.CompareAndSwap(old, old|bits<<place) {
			return ch, nil
		}
	}
}

// unlock begins Unlock (MPI-4.0 §12.5.3). The change says which kind the lock is of.
func (e *epochs) unlock(target int) (change, error) {
	s := e.load()
	if why := unlockable(s); why != fine {
		return change{}, e.refuse(CallUnlock, target, s, why)
	}
	if b := e.at(target); b != nil {
		w, place := b.of(target)
		if old := w.And(^uint64(opened<<place)) >> place; old&opened != 0 {
			return change{e: e, was: s, target: int32(target), call: CallUnlock, exclusive: old&exclusive != 0, byCall: old&byCall != 0}, nil
		}
	}
	return change{}, e.refuse(CallUnlock, target, s, e.notLocked(target))
}

// begin is what the word alone decides.
func (e *epochs) begin(c Call, target int, a Assert) (change, error) {
	if a&^takes[c] != 0 {
		return change{}, &AssertError{Call: c, Given: a}
	}
	self := target == int(e.rank)
	for {
		s := e.load()
		if why := s.allows(c, a, self); why != fine {
			return change{}, e.refuse(c, target, s, why)
		}
		if e.swap(s, s.during(c, self)) {
			return change{e: e, was: s, target: int32(target), call: c, assert: a}, nil
		}
	}
}

// during is the state from the begin of a call to its end.
func (s epochState) during(c Call, self bool) epochState {
	switch c {
	case CallLock:
		if self {
			s |= selfLocked
		}
		return s + oneLock
	case CallPost, CallWait, CallTest:
		return s | epochState(c)<<exposureShift
	case CallFence, CallFree:
		s |= epochState(c) << exposureShift
	}
	return s&^(anyTarget|anyRequest) | epochState(c)<<accessShift
}

// end makes the call's effect the state.
func (ch *change) end() {
	e := ch.e
	switch ch.call {
	case CallLock:
		// The lock is an access epoch, so there is no fence epoch to open any more.
		e.set(fenced, 0)
		w, place := e.at(int(ch.target)).of(int(ch.target))
		w.Or(opened << place)
	case CallUnlock:
		ch.forget()
	case CallPost:
		e.set(callMask<<exposureShift, posted)
	case CallWait, CallTest:
		e.set(callMask<<exposureShift|posted, 0)
	case CallStart:
		e.set(callMask<<accessShift|fenced, started)
		e.openClaimed()
	case CallComplete:
		e.keep(0)
		e.set(callMask<<accessShift|accessFlags, 0)
	case CallLockAll:
		e.set(callMask<<accessShift|fenced, lockedAll|anyTarget|anyRequest)
	case CallUnlockAll:
		e.set(callMask<<accessShift|accessFlags, 0)
	case CallFence:
		after := fenced
		if ch.assert&NoSucceed != 0 {
			after = 0
		}
		e.set(callMask<<accessShift|callMask<<exposureShift|accessFlags, after)
	case CallFree:
		e.set(callMask<<accessShift|callMask<<exposureShift|accessFlags, freed)
	}
}

// cancel makes the state what it was before the call.
func (ch *change) cancel() {
	e := ch.e
	switch ch.call {
	case CallLock:
		ch.forget()
	case CallUnlock:
		w, place := e.at(int(ch.target)).of(int(ch.target))
		w.Or(opened << place)
	case CallPost, CallWait, CallTest:
		e.set(callMask<<exposureShift, 0)
	case CallFence, CallFree:
		e.set(callMask<<accessShift|callMask<<exposureShift, ch.was&accessFlags)
	case CallComplete:
		e.set(callMask<<accessShift, 0)
		e.openClaimed()
	case CallStart:
		e.keep(0)
		e.set(callMask<<accessShift, 0)
	default:
		e.set(callMask<<accessShift, ch.was&accessFlags)
	}
}

// byLoop leaves a lock that is not open yet to the loop.
func (ch *change) byLoop() {
	ch.byCall = false
	w, place := ch.e.at(int(ch.target)).of(int(ch.target))
	w.And(^uint64(byCall << place))
}

// forget removes a lock.
func (ch *change) forget() {
	w, place := ch.e.at(int(ch.target)).of(int(ch.target))
	w.And(^uint64((opened | claimed | exclusive | byCall) << place))
	flags := epochState(0)
	if ch.target == ch.e.rank {
		flags = selfLocked
	}
	ch.e.uncount(flags)
}

// uncount takes a lock off the count, and clears flags.
func (e *epochs) uncount(flags epochState) {
	for {
		s := e.load()
		if e.swap(s, (s-oneLock)&^flags) {
			return
		}
	}
}

// set clears and sets flags.
func (e *epochs) set(clear, flags epochState) {
	for {
		s := e.load()
		to := s&^clear | flags
		if to == s || e.swap(s, to) {
			return
		}
	}
}
