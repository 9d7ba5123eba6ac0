package rma

import "fmt"

// A LockError is the failure of Lock or LockAll because of a rank that has died.
type LockError struct {
	Target int // −1 for LockAll
	Dead   int
	Held   bool // the dead held a lock that conflicts; else it keeps the word of the lock
}

func (e *LockError) Error() string {
	what := "the locks of all ranks"
	if e.Target != lockEverywhere {
		what = fmt.Sprintf("the lock of rank %d", e.Target)
	}
	why := "which keeps the word of it, has died or freed the window"
	if e.Held {
		why = "which held a lock that conflicts, has died, and what it was writing may be half done"
	}
	return fmt.Sprintf("%s can't be granted: rank %d, %s: free the window, and make one of the ranks that live", what, e.Dead, why)
}

// lockStage is the next step of an operation.
type lockStage uint8

const (
	lockIdle   lockStage = iota
	lockAim              // chooses the way to the word
	lockMark             // direct: says that it may hold the word
	lockTake             // direct: takes it, if nobody is in the way
	lockClear            // direct: has not got it and takes the mark back
	lockAsk              // sends the request
	lockWait             // for Granted, Refused or Down
	lockPress            // sends that the rank holds a lock
	lockParked           // for another operation of this rank
	lockLeave            // chooses the way to release the word
	lockDrop             // direct: releases it
	lockErase            // direct: takes the mark back
	lockKnock            // direct: tells the owner that requests wait
	lockTell             // sends the release
)

// lockOp is a Lock, Unlock, LockAll or UnlockAll under way. Lock and Unlock begin
// it. Step carries it out, one access at a time, and Send one packet, until it has
// ended or waits; it goes on after Granted, Refused, Down or Wake:
//
//	op.Lock(&origin, lockExclusive, target, elsewhere)
//	for more := true; more; {
//		if op.Sends() {
//			more = op.Send(port) // as the owner of the loop
//		} else {
//			more = op.Step(port)
//		}
//	}
//	ended, err := op.Ended()
//
// Operations and their origin are called one at a time. They do no I/O of their own.
//
// A shared lock is a claim to the target's word. An exclusive lock is two: first to
// the global word, as a side, which a rank has once for all its exclusive locks, and
// then to the target's word. LockAll is one, to the global word, and touches no
// target: so exclusive locks and LockAll exclude each other there. A rank that has
// the side never waits for a LockAll, which may be waiting for that rank.
type lockOp struct {
	of      *lockOrigin
	stage   lockStage
	at      lockAt
	claim   lockClaim // to at
	target  int       // of the operation
	kind    lockClaim // lockShared or lockExclusive
	holding bool      // this rank holds another lock, see lockRequest
	knocks  bool      // after the release
	failed  bool
	dead    int  // because of which it has failed
	heldBy  bool // the dead held it
}

// Lock begins to take a lock of a target, lockShared or lockExclusive, or with
// lockEverywhere and lockShared those of all. elsewhere says that this rank holds a
// lock of another window.
func (op *lockOp) Lock(of *lockOrigin, kind lockClaim, target int, elsewhere bool) {
	*op = lockOp{of: of, kind: kind, target: target, claim: kind, at: lockAt{rank: target}, stage: lockAim}
	op.holding = of.held > 0 || elsewhere
	switch {
	case target == lockEverywhere:
		op.at = lockAt{global: true}
	case kind == lockExclusive:
		op.at, op.claim = lockAt{global: true}, lockSide
	}
}

// Unlock begins to release what Lock with the same arguments has taken.
func (op *lockOp) Unlock(of *lockOrigin, kind lockClaim, target int) {
	*op = lockOp{of: of, kind: kind, target: target, claim: kind, at: lockAt{rank: target}, stage: lockLeave}
	if target == lockEverywhere {
		op.at = lockAt{global: true}
	}
	of.held--
}

// Ended reports whether the operation has ended, and how.
func (op *lockOp) Ended() (bool, error) {
	switch {
	case op.stage != lockIdle:
		return false, nil
	case op.failed:
		return true, &LockError{op.target, op.dead, op.heldBy}
	}
	return true, nil
}

// Sends reports whether the next step sends a packet. The owner of the loop makes
// it: so no death comes between the look for one and the request.
func (op *lockOp) Sends() bool {
	return op.stage == lockAsk || op.stage == lockPress || op.stage == lockTell
}

// Step does the next step, and reports whether there is one after it.
func (op *lockOp) Step(p lockPort) (more bool) {
	switch op.stage {
	case lockAim:
		op.aim(p)
	case lockLeave:
		op.leave(p)
	}
	switch op.stage {
	case lockMark:
		p.Mark(op.at, op.claim) // before the take: pairs with lockQueue.holds
		op.stage = lockTake
	case lockTake:
		op.take(p)
	case lockClear:
		p.Mark(op.at, lockNone)
		op.stage = lockAsk
	case lockDrop:
		op.drop(p)
	case lockErase:
		p.Mark(op.at, lockNone) // after the drop: pairs with lockQueue.holds
		op.dropped(p)
	case lockKnock:
		p.Knock(op.at.rank)
		op.knocks = false
		op.dropped(p)
	}
	return op.more()
}

// more reports whether the operation has a step that it can make now.
func (op *lockOp) more() bool {
	return op.stage != lockIdle && op.stage != lockWait && op.stage != lockParked
}

// Send is Step where Sends says so.
func (op *lockOp) Send(p lockPort) (more bool) {
	switch op.stage {
	case lockAsk:
		if p.Dead(op.at.rank) {
			op.lose(p, op.at.rank, false)
			break
		}
		op.stage = lockWait
		p.Request(op)
	case lockPress:
		op.stage = lockParked
		p.Press(lockAt{global: true}, lockSide)
	case lockTell:
		p.Release(op.at, op.claim) // to the dead it goes nowhere
		op.dropped(p)
	}
	return op.more()
}

// aim chooses the way to the word. A rank that has the side needs no other.
func (op *lockOp) aim(p lockPort) {
	s := op.of
	if op.claim == lockSide {
		switch s.side {
		case sideHad:
			op.win(p)
		case sideNone:
			s.side, s.taker = sideTaken, op
		default:
			s.park(op)
			return
		}
	}
	switch {
	case p.Dead(op.at.rank):
		op.lose(p, op.at.rank, false)
	case !p.Direct(op.at):
		op.stage = lockAsk
	case op.claim.marked():
		op.stage = lockMark
	default:
		op.stage = lockTake
	}
}

// leave chooses the way to release the word. The memory of the dead stays.
func (op *lockOp) leave(p lockPort) {
	if op.stage = lockTell; p.Direct(op.at) {
		op.stage = lockDrop
	}
}

// take takes the word unless somebody holds it or waits for it.
func (op *lockOp) take(p lockPort) {
	for {
		w := p.Load(op.at)
		next, ok := w.take(op.claim, op.of.rank, op.holding)
		switch {
		case !ok && op.claim.marked():
			op.stage = lockClear
		case !ok:
			op.stage = lockAsk
		case !p.CAS(op.at, w, next): // pairs with lockQueue.change and drop
			continue
		default:
			op.win(p)
		}
		return
	}
}

func (op *lockOp) drop(p lockPort) {
	for {
		w := p.Load(op.at)
		next, knock := w.drop(op.claim)
		if p.CAS(op.at, w, next) { // pairs with lockQueue.change and take
			op.knocks = knock
			break
		}
	}
	if op.claim.marked() {
		op.stage = lockErase
	} else {
		op.dropped(p)
	}
}

// win goes on with the claim behind the one that is granted.
func (op *lockOp) win(p lockPort) {
	s := op.of
	if op.claim != lockSide {
		s.held++
		op.stage = lockIdle
		return
	}
	if s.sides++; s.side != sideHad {
		s.turn(p, sideHad)
	}
	op.at, op.claim, op.stage = lockAt{rank: op.target}, lockExclusive, lockAim
}

// lose ends the operation, after it has given back what it took.
func (op *lockOp) lose(p lockPort, dead int, held bool) {
	op.failed, op.dead, op.heldBy, op.stage = true, dead, held, lockIdle
	switch op.claim {
	case lockSide:
		op.of.turn(p, sideNone)
	case lockExclusive:
		op.leaveSide()
	}
}

// dropped goes on with what is left after the release of a word.
func (op *lockOp) dropped(p lockPort) {
	switch op.stage = lockIdle; {
	case op.knocks:
		op.stage = lockKnock
	case op.claim == lockExclusive:
		op.leaveSide()
	case op.claim == lockSide:
		op.of.turn(p, sideNone)
	}
}

// leaveSide gives the side back if no other lock needs it.
func (op *lockOp) leaveSide() {
	s := op.of
	if s.sides--; s.sides == 0 {
		s.side = sideLeft
		op.at, op.claim, op.stage = lockAt{global: true}, lockSide, lockLeave
	}
}

// Granted is the arrival of a grant. It returns false if the operation does not wait
// for it. If it returns true, the operation goes on.
func (op *lockOp) Granted(p lockPort, at lockAt, c lockClaim) bool {
	if op.stage != lockWait || at != op.at || c != op.claim {
		return false
	}
	op.win(p)
	return true
}

// Refused is the arrival of a refusal: the dead rank held a lock that conflicts.
func (op *lockOp) Refused(p lockPort, at lockAt, c lockClaim, dead int) bool {
	if op.stage != lockWait || at != op.at || c != op.claim {
		return false
	}
	op.lose(p, dead, dead != at.rank)
	return true
}

// Down is the death of a rank, after its last message. It returns true if the rank
// kept the word that the operation waits for: then it goes on.
func (op *lockOp) Down(p lockPort, rank int) bool {
	if op.stage != lockWait || op.at.rank != rank {
		return false
	}
	op.lose(p, rank, false)
	return true
}
