package rma

import (
	"fmt"
	"strings"
)

// Call is a call that the epochs of a window allow or refuse.
type Call uint8

const (
	CallFence Call = iota + 1
	CallStart
	CallComplete
	CallPost
	CallWait
	CallTest
	CallLock
	CallUnlock
	CallLockAll
	CallUnlockAll
	CallFree
	CallFlush
	CallFlushLocal
	CallFlushAll
	CallFlushLocalAll
	CallSync
	CallOp        // Put, Get and the others
	callRequestOp // Rput, Rget and the others
)

var callNames = [...]string{CallFence: "Fence", CallStart: "Start", CallComplete: "Complete", CallPost: "Post",
	CallWait: "Wait", CallTest: "Test", CallLock: "Lock", CallUnlock: "Unlock", CallLockAll: "LockAll",
	CallUnlockAll: "UnlockAll", CallFree: "Free", CallFlush: "Flush", CallFlushLocal: "FlushLocal",
	CallFlushAll: "FlushAll", CallFlushLocalAll: "FlushLocalAll", CallSync: "Sync", CallOp: "an operation",
	callRequestOp: "an operation with a request"}

func (c Call) String() string {
	if int(c) >= len(callNames) || c == 0 {
		return fmt.Sprintf("Call(%d)", uint8(c))
	}
	return callNames[c]
}

// Assert is a set of assertions: promises of the program that let a call do less
// (MPI-4.0 §12.5.5). The values are those of MPI-5's ABI.
type Assert uint16

const (
	// NoCheck promises to Start that the matching Posts have been called, to Post that
	// the matching Starts have not, and to Lock and LockAll that nobody asks for a lock
	// that conflicts.
	NoCheck Assert = 1 << 10
	// NoPrecede promises that the fence completes no operation of this rank. All ranks
	// give it, or none.
	NoPrecede Assert = 1 << 11
	// NoPut promises that the local part will not be written to by other ranks until
	// the next synchronization.
	NoPut Assert = 1 << 12
	// NoStore promises that the local part was not written to by loads and stores since
	// the last synchronization.
	NoStore Assert = 1 << 13
	// NoSucceed promises that no operation of this rank follows the fence. All ranks
	// give it, or none.
	NoSucceed Assert = 1 << 14
)

// takes are the assertions that each call takes (MPI-4.0 §12.5.5).
var takes = [...]Assert{
	CallFence:     NoStore | NoPut | NoPrecede | NoSucceed,
	CallStart:     NoCheck,
	CallPost:      NoCheck | NoStore | NoPut,
	CallLock:      NoCheck,
	CallLockAll:   NoCheck,
	callRequestOp: 0,
}

func (a Assert) String() string {
	var all []string
	for i, name := range [...]string{"NoCheck", "NoPrecede", "NoPut", "NoStore", "NoSucceed"} {
		if bit := NoCheck << i; a&bit != 0 {
			all = append(all, name)
			a &^= bit
		}
	}
	if a != 0 {
		all = append(all, fmt.Sprintf("%#x", uint16(a)))
	}
	if all == nil {
		return "no assertion"
	}
	return strings.Join(all, "|")
}

// reason is why a call is refused.
type reason uint8

const (
	fine reason = iota
	over
	busy
	targetBusy
	fenceOpen
	startOpen
	lockOpen
	lockAllOpen
	postOpen
	freeOpen
	selfExposed
	partLocked
	falsePrecede
	notStarted
	notPosted
	notLockedAll
	lockedOneByOne
	lockedTwice
	noEpoch
	noLock
	notInGroup
	targetNotLocked
	unlocksAll
)

func overOrBusy(s epochState) reason {
	if s&freed != 0 {
		return over
	}
	return busy
}

// allows says whether a call that opens or closes an epoch may begin. self says that
// it is a Lock of this rank's own part.
//
// Distinct access epochs of a window are disjoint at a rank, and so are its exposure
// epochs (MPI-4.0 §12.5); locks of several targets are the exception (§12.5.3). No
// part is locked and exposed at once (§12.5.3). Two liberties: what follows a fence
// without any operation is no fence epoch (§12.5.1), so that other epochs may begin,
// and Post meets fence epochs, as only the targets of operations are exposed by
// fences. The fence itself comes after Wait.
func (s epochState) allows(c Call, a Assert, self bool) reason {
	access := s.accessCall() != 0
	exposure := s.exposureCall() != 0
	if s&freed != 0 {
		return over
	}
	switch c {
	case CallFence, CallFree:
		switch {
		case access || exposure:
			return busy
		case s&posted != 0:
			return postOpen
		case c == CallFree && s.fenceEpoch():
			return freeOpen
		case a&NoPrecede != 0 && s.fenceEpoch():
			return falsePrecede
		case s&(started|lockedAll) != 0 || s.locks() > 0:
			return s.openAccess()
		}
	case CallStart, CallLockAll:
		switch {
		case access:
			return busy
		case s.openAccess() != fine:
			return s.openAccess()
		case c == CallLockAll && s&posted != 0:
			return selfExposed
		case c == CallLockAll && exposure:
			return busy
		}
	case CallLock:
		switch {
		case access:
			return busy
		case self && s&selfLocked != 0:
			return lockedTwice
		case s.locks() == 0 && s.openAccess() != fine:
			return s.openAccess()
		case self && s&posted != 0:
			return selfExposed
		case self && exposure:
			return busy
		}
	case CallComplete:
		switch {
		case access:
			return busy
		case s&started == 0:
			return notStarted
		}
	case CallUnlockAll:
		switch {
		case access:
			return busy
		case s.locks() > 0:
			return lockedOneByOne
		case s&lockedAll == 0:
			return notLockedAll
		}
	case CallPost:
		switch {
		case exposure:
			return busy
		case s&posted != 0:
			return postOpen
		case s&(selfLocked|lockedAll) != 0:
			return partLocked
		case s.accessCall() == CallLockAll:
			return busy
		}
	case CallWait, CallTest:
		switch {
		case exposure:
			return busy
		case s&posted == 0:
			return notPosted
		}
	}
	return fine
}

// openAccess is why no other access epoch may begin.
func (s epochState) openAccess() reason {
	switch {
	case s.fenceEpoch():
		return fenceOpen
	case s&started != 0:
		return startOpen
	case s&lockedAll != 0:
		return lockAllOpen
	case s.locks() > 0:
		return lockOpen
	}
	return fine
}

// unlockable says whether an Unlock may look for its target.
func unlockable(s epochState) reason {
	switch {
	case s&freed != 0:
		return over
	case s&lockedAll != 0:
		return unlocksAll
	case s.accessCall() != 0:
		return busy
	case s.locks() == 0:
		return targetNotLocked
	}
	return fine
}
