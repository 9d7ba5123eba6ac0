package rma

import (
	"slices"
	"sync/atomic"
)

// A shared lock in memory that this process reaches is a mark and a compare-and-swap. The
// call that wants it makes them itself if nobody is in the way: they are the steps of a
// lockOp, without the ownership of the loop, and without its knowledge. All else is the
// loop's (lock.go). So a window is on its engine's list before calls take locks in it:
// what the rank holds is found there.

// byCall reports whether calls may take the shared lock of a target themselves.
func (w *Win) byCall(target int) bool {
	return w.listed.Load() && w.port.blocks[target] != nil && w.check == nil
}

// lockByCall is Lock of a target that this call may lock itself. If it has not, the lock
// is the loop's, and the change under way.
func (w *Win) lockByCall(target int, a Assert) (ch change, locked bool, err error) {
	e := &w.epochs
	s, err := e.claim(target, a)
	if err != nil {
		return change{}, false, err
	}
	e.put(target, 0, claimed|byCall) // before the take: pairs with callsHold
	during := s.during(CallLock, target == int(e.rank))
	if w.takeByCall(target) {
		e.put(target, 0, opened)
		e.release(during &^ fenced) // as in end
		return change{}, true, nil
	}
	e.put(target, byCall, 0)
	e.release(during)
	return change{e: e, was: s, target: int32(target), call: CallLock, assert: a}, false, nil
}

// unlockByCall is Unlock of such a lock, if there is nothing else to do.
func (w *Win) unlockByCall(target int) bool {
	e := &w.epochs
	if !w.byCall(target) || w.targets[target].touched.Load() {
		return false
	}
	s := e.hold()
	const all = opened | byCall
	if unlockable(s) != fine || e.bits(target)&all != all {
		e.release(s)
		return false
	}
	knock := w.dropByCall(target)
	ch := change{e: e, target: int32(target)}
	e.release(ch.forget(s))
	if knock {
		w.knock(target)
	}
	return true
}

// takeByCall takes a shared lock, and reports whether it has. It has not if somebody
// holds it alone or waits for it, or if the target is dead: the loop finds out which.
func (w *Win) takeByCall(target int) bool {
	if w.targets[target].dead.Load() != nil { // pairs with the store in peerDown
		return false
	}
	b, at := w.port.blocks[target], lockAt{rank: target}
	b.setMark(at, w.rank, lockShared) // before the take: pairs with lockQueue.holds
	for {
		word := b.load(at)
		next, ok := word.take(lockShared, w.rank, false)
		if !ok {
			b.setMark(at, w.rank, lockNone)
			return false
		}
		if b.cas(at, word, next) { // pairs with lockQueue.change and drop
			return true
		}
	}
}

// dropByCall releases it, and reports whether the owner of the word has to be told.
func (w *Win) dropByCall(target int) (knock bool) {
	b, at := w.port.blocks[target], lockAt{rank: target}
	for {
		word := b.load(at)
		next, knock := word.drop(lockShared)
		if b.cas(at, word, next) { // pairs with lockQueue.change and take
			b.setMark(at, w.rank, lockNone) // after the drop: pairs with lockQueue.holds
			return knock
		}
	}
}

func (w *Win) knock(target int) {
	w.e.loop.Exclusive(func() { w.port.Knock(target) })
}

// list puts the window on the engine's list. For the owner.
func (w *Win) list() {
	if !w.listed.Load() {
		w.e.lockers = append(w.e.lockers, w)
		w.listed.Store(true)
	}
}

// callsHold reports whether calls hold locks, or are about to. For the owner.
func (e *Engine) callsHold() (held bool) {
	for _, w := range e.lockers {
		w.epochs.words(func(bits *uint64) { held = held || atomic.LoadUint64(bits)&(byCall*eachTarget) != 0 })
	}
	return held
}

// unlist takes the window off the list. For the owner.
func (w *Win) unlist() {
	w.e.lockers = slices.DeleteFunc(w.e.lockers, func(x *Win) bool { return x == w })
}
