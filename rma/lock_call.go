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
func (w *Win) byCall(target int) bool { return w.listed.Load() && w.port.blocks[target] != nil }

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

// dropByCall releases it.
func (w *Win) dropByCall(target int) {
	b, at := w.port.blocks[target], lockAt{rank: target}
	for {
		word := b.load(at)
		next, knock := word.drop(lockShared)
		if !b.cas(at, word, next) { // pairs with lockQueue.change and take
			continue
		}
		b.setMark(at, w.rank, lockNone) // after the drop: pairs with lockQueue.holds
		if knock {
			w.e.loop.Exclusive(func() { w.port.Knock(target) })
		}
		return
	}
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
		w.epochs.words(func(bits *atomic.Uint64) { held = held || bits.Load()&(byCall*eachTarget) != 0 })
	}
	return held
}

// unlist takes the window off the list. For the owner.
func (w *Win) unlist() {
	w.e.lockers = slices.DeleteFunc(w.e.lockers, func(x *Win) bool { return x == w })
}
