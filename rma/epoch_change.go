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
	if err != nil {
		return ch, err
	}
	for _, t := range targets {
		e.grow(t)
	}
	s := e.hold()
	for _, t := range targets {
		e.put(t, 0, claimed)
	}
	e.release(s)
	return ch, nil
}

// complete begins Complete (MPI-4.0 §12.5.2).
func (e *epochs) complete() (change, error) {
	ch, err := e.begin(CallComplete, -1, 0)
	if err == nil {
		s := e.hold()
		e.keep(claimed)
		e.release(s)
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
	s, err := e.claim(target, a)
	if err != nil {
		return change{}, err
	}
	bits := uint64(claimed)
	if alone {
		bits |= exclusive
	}
	e.put(target, 0, bits)
	e.release(s.during(CallLock, target == int(e.rank)))
	return change{e: e, was: s, target: int32(target), call: CallLock, assert: a, exclusive: alone}, nil
}

// claim allows a Lock of a target, and holds the word if it does.
func (e *epochs) claim(target int, a Assert) (epochState, error) {
	if a&^takes[CallLock] != 0 {
		return 0, &AssertError{Call: CallLock, Given: a}
	}
	e.grow(target)
	s := e.hold()
	why := s.allows(CallLock, a, target == int(e.rank))
	if why == fine && e.is(claimed, target) {
		why = lockedTwice
	}
	if why != fine {
		e.release(s)
		return 0, e.refuse(CallLock, target, s, why)
	}
	return s, nil
}

// unlock begins Unlock (MPI-4.0 §12.5.3). The change says which kind the lock is of.
func (e *epochs) unlock(target int) (change, error) {
	s := e.hold()
	why, bits := unlockable(s), e.bits(target)
	if why == fine && bits&opened == 0 {
		why = e.notLocked(target)
	}
	if why == fine {
		e.put(target, opened, 0)
	}
	e.release(s)
	if why != fine {
		return change{}, e.refuse(CallUnlock, target, s, why)
	}
	return change{e: e, was: s, target: int32(target), call: CallUnlock, exclusive: bits&exclusive != 0, byCall: bits&byCall != 0}, nil
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
	s := e.hold()
	switch ch.call {
	case CallLock:
		e.put(int(ch.target), 0, opened)
		s &^= fenced // the lock is an access epoch, so there is no fence epoch to open any more
	case CallUnlock:
		s = ch.forget(s)
	case CallPost:
		s = s&^(callMask<<exposureShift) | posted
	case CallWait, CallTest:
		s &^= callMask<<exposureShift | posted
	case CallStart:
		e.openClaimed()
		s = s&^(callMask<<accessShift|fenced) | started
	case CallComplete:
		e.keep(0)
		s &^= callMask<<accessShift | accessFlags
	case CallLockAll:
		s = s&^(callMask<<accessShift|fenced) | lockedAll | anyTarget | anyRequest
	case CallUnlockAll:
		s &^= callMask<<accessShift | accessFlags
	case CallFence:
		s = s&^(callMask<<accessShift|callMask<<exposureShift|accessFlags) | fenced
		if ch.assert&NoSucceed != 0 {
			s &^= fenced
		}
	case CallFree:
		s = s&^(callMask<<accessShift|callMask<<exposureShift|accessFlags) | freed
	}
	e.release(s)
}

// cancel makes the state what it was before the call.
func (ch *change) cancel() {
	e := ch.e
	s := e.hold()
	switch ch.call {
	case CallLock:
		s = ch.forget(s)
	case CallUnlock:
		e.put(int(ch.target), 0, opened)
	case CallPost, CallWait, CallTest:
		s &^= callMask << exposureShift
	case CallFence, CallFree:
		s = s&^(callMask<<accessShift|callMask<<exposureShift) | ch.was&accessFlags
	case CallComplete:
		e.openClaimed()
		s &^= callMask << accessShift
	case CallStart:
		e.keep(0)
		s &^= callMask << accessShift
	default:
		s = s&^(callMask<<accessShift) | ch.was&accessFlags
	}
	e.release(s)
}

// forget removes a lock. For the holder.
func (ch *change) forget(s epochState) epochState {
	ch.e.put(int(ch.target), opened|claimed|exclusive|byCall, 0)
	if ch.target == ch.e.rank {
		s &^= selfLocked
	}
	return s - oneLock
}
