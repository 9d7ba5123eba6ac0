package rma

import (
	"fmt"
	"strings"
)

// SyncError is the error of a call that the window does not allow now (MPI-4.0
// §12.5). Nothing has changed.
type SyncError struct {
	Call   Call
	Target int // −1 if the call has none
	// State is what the window is in, and Remedy what to do, in words.
	State, Remedy string
	// Freed says that the window has been freed.
	Freed bool
}

func (e *SyncError) Error() string { return e.State + ": " + e.Remedy }

// AssertError is the error of an assertion that a call does not take (MPI-4.0
// §12.5.5).
type AssertError struct {
	Call  Call
	Given Assert
}

func (e *AssertError) Error() string {
	can := takes[e.Call]
	if can == 0 {
		return fmt.Sprintf("%v takes no assertion: leave out %v", e.Call, e.Given)
	}
	return fmt.Sprintf("%v takes %v: leave out %v", e.Call, can, e.Given&^can)
}

// refuse is the error of a call in a state.
func (e *epochs) refuse(c Call, target int, s epochState, why reason) error {
	return &SyncError{Call: c, Target: target, State: s.words(), Remedy: why.remedy(c, target, s), Freed: why == over}
}

// words tell of a state.
func (s epochState) words() string {
	if s&freed != 0 {
		return "the window has been freed"
	}
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	a, x := s.accessCall(), s.exposureCall()
	if a != 0 {
		add("%v is under way on another goroutine", a)
	}
	if x != 0 && x != a {
		add("%v is under way on another goroutine", x)
	}
	switch {
	case a != 0:
	case s.fenceEpoch():
		add("a fence epoch with operations is open")
	case s&fenced != 0 && s.locks() == 0:
		add("a fence was the last synchronization")
	case s&started != 0:
		add("an access epoch of Start is open")
	case s&lockedAll != 0:
		add("all targets are locked by LockAll")
	case s.locks() == 1:
		add("one target is locked")
	case s.locks() > 1:
		add("%d targets are locked", s.locks())
	}
	if s&posted != 0 && x == 0 {
		add("an exposure epoch of Post is open")
	}
	if all == nil {
		return "no epoch is open"
	}
	return strings.Join(all, ", and ")
}

// remedy says what to do.
func (r reason) remedy(c Call, target int, s epochState) string {
	switch r {
	case over:
		return "make a new one"
	case busy:
		return "one goroutine at a time opens and closes epochs, and operations wait for it"
	case targetBusy:
		return fmt.Sprintf("Lock or Unlock of rank %d is under way on another goroutine, wait for it", target)
	case fenceOpen:
		return fmt.Sprintf("end it with Fence(NoSucceed) before %v", c)
	case startOpen:
		return fmt.Sprintf("call Complete before %v", c)
	case lockOpen:
		return fmt.Sprintf("call Unlock for each before %v", c)
	case lockAllOpen:
		return fmt.Sprintf("call UnlockAll before %v", c)
	case postOpen:
		return fmt.Sprintf("call Wait before %v", c)
	case freeOpen:
		return "end it with Fence before Free"
	case selfExposed:
		return fmt.Sprintf("call Wait before %v, as no part of a window is locked and exposed at once", c)
	case partLocked:
		return "unlock this rank's part before Post, as no part of a window is locked and exposed at once"
	case falsePrecede:
		return "leave out NoPrecede, as this fence completes them"
	case notStarted:
		return "Complete ends an epoch of Start, call that first"
	case notPosted:
		return fmt.Sprintf("%v ends an epoch of Post, call that first", c)
	case notLockedAll:
		return "UnlockAll ends an epoch of LockAll, call that first"
	case lockedOneByOne:
		return "UnlockAll ends an epoch of LockAll, call Unlock for each target that was locked alone"
	case unlocksAll:
		return "UnlockAll unlocks them, not Unlock"
	case lockedTwice:
		return fmt.Sprintf("rank %d is locked already, call Unlock for it first", target)
	case noEpoch:
		return "operations need an epoch, call Fence, Start, Lock or LockAll first"
	case noLock:
		return fmt.Sprintf("%v needs a lock, call Lock or LockAll first", c)
	case notInGroup:
		return fmt.Sprintf("rank %d is not in the group of Start, add it there", target)
	}
	// targetNotLocked
	if s.locks() == 0 && c == CallUnlock {
		return fmt.Sprintf("rank %d is not locked, call Lock for it first", target)
	}
	return fmt.Sprintf("rank %d is not one of them, call Lock for it first", target)
}
