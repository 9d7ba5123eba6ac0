package rma

import (
	"runtime"
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/membar"
)

// epochs says which calls a window at one rank allows now (MPI-4.0 §12.5). It waits
// for nothing and talks to nobody. A call that opens or closes an epoch takes a
// change, does its work, and ends or cancels it:
//
//	ch, err := w.epochs.lock(target, exclusive, assert)
//	if err != nil {
//		return err // a *SyncError or an *AssertError; nothing has changed
//	}
//	if err := … ; err != nil {
//		ch.cancel()
//		return err
//	}
//	ch.end()
//
// Between the two, the epoch that the call opens is not open yet, and the one that it
// closes is not open any more. Ranks are those of the window, in its range.
//
// All methods are for any goroutine. The access epochs of a window and its exposure
// epochs are independent (§12.5), so one goroutine may be in Wait while another one
// goes from Start to Complete, and so are the locks of different targets. Beyond
// that, a change meets no other one: the second is refused.
type epochs struct {
	// word is the state. Operations load it: one that sees anyTarget pairs with the
	// release in end of the change that opened the epoch.
	word uint64
	near targetBlock // of targets 0 to 63
	// far are the blocks of targets from 64 on: no list before a call names such a
	// target, no block before one of its 64 is named. Stored by grow, loaded by at.
	far  atomic.Pointer[[]atomic.Pointer[targetBlock]]
	size int32
	rank int32
}

// targetBlock tells of 64 targets, with four bits for each. The holder of the word stores to
// it, see hold. A load that sees opened pairs with the store in end of the change that
// opened the epoch; the next change clears it. claimed is set as long as a target is
// locked or in the group of Start, and during the changes to and from that: the change
// that has set it has the target's other bits, too. The loop reads byCall, see
// Engine.callsHold.
type targetBlock [4]uint64

const (
	opened = 1 << iota
	claimed
	exclusive // the lock is
	byCall    // and its call takes and releases it itself, see lock_call.go

	eachTarget = 0x1111_1111_1111_1111 // times a bit: that bit of all targets of a word
)

// of is the word of a target and the place of its bits there.
func (b *targetBlock) of(target int) (w *uint64, place uint) {
	return &b[uint(target)/16%4], uint(target) % 16 * 4
}

// epochState is a value of word: flags, the calls that change each side now, and the
// number of claimed locks.
type epochState uint64

const (
	anyTarget  epochState = 1 << iota // operations with every target are allowed
	anyRequest                        // those with requests and flushes, too
	fenced                            // the last fence lets operations open an epoch
	started
	lockedAll
	selfLocked // this rank's own part is locked alone
	posted
	freed

	accessFlags = anyTarget | anyRequest | fenced | started | lockedAll

	changing epochState = 1 << 24 // somebody holds the word

	accessShift              = 8 // of the call that changes access epochs, 0 if none does
	exposureShift            = 16
	callMask                 = 0xFF
	oneLock       epochState = 1 << 32
)

func (s epochState) accessCall() Call   { return Call(s >> accessShift & callMask) }
func (s epochState) exposureCall() Call { return Call(s >> exposureShift & callMask) }
func (s epochState) locks() int         { return int(s / oneLock) }

// fenceEpoch reports whether operations have been called since the last fence. Before
// the first one there is no epoch yet (§12.5.1).
func (s epochState) fenceEpoch() bool { return s&(fenced|anyTarget) == fenced|anyTarget }

// init is for a window of size ranks at the rank with this number.
func (e *epochs) init(size, rank int) { e.size, e.rank = int32(size), int32(rank) }

func (e *epochs) load() epochState {
	return epochState(atomic.LoadUint64(&e.word)) &^ changing // pairs with swap and release
}

// swap changes the state, unless it is another one by now or somebody holds it.
func (e *epochs) swap(from, to epochState) bool {
	if atomic.CompareAndSwapUint64(&e.word, uint64(from), uint64(to)) { // pairs with load, release and itself
		return true
	}
	if epochState(atomic.LoadUint64(&e.word))&changing != 0 {
		runtime.Gosched() // who holds it may have been interrupted
	}
	return false
}

// hold keeps others from changes until release, and returns the state. The holder waits
// for nothing: it changes bits of targets, and words of locks.
func (e *epochs) hold() epochState {
	for {
		if s := e.load(); e.swap(s, s|changing) {
			return s
		}
	}
}

// release makes a state the one that holds.
func (e *epochs) release(s epochState) { membar.StoreRelease(&e.word, uint64(s)) } // pairs with load and swap

// bits are those of a target.
func (e *epochs) bits(target int) uint64 {
	if b := e.at(target); b != nil {
		w, place := b.of(target)
		return atomic.LoadUint64(w) >> place & (1<<4 - 1) // pairs with put
	}
	return 0
}

// put clears and sets bits of a target that grow has made room for. For the holder.
func (e *epochs) put(target int, clear, set uint64) {
	w, place := e.at(target).of(target)
	membar.StoreRelease(w, atomic.LoadUint64(w)&^(clear<<place)|set<<place) // pairs with bits
}

// op allows an operation with a target (MPI-4.0 §12.5), or with no process, for
// target −1. After a fence, the first one opens the epoch.
func (e *epochs) op(target int) error {
	if e.load()&anyTarget != 0 {
		return nil
	}
	return e.opAlone(target)
}

// requestOp allows an operation that returns a request: they belong to passive target
// epochs (MPI-4.0 §12.3.5).
func (e *epochs) requestOp(target int) error {
	if e.load()&anyRequest != 0 {
		return nil
	}
	return e.locked(callRequestOp, target)
}

// flush allows Flush and FlushLocal of a target (MPI-4.0 §12.5.4).
func (e *epochs) flush(c Call, target int) error {
	if e.load()&anyRequest != 0 {
		return nil
	}
	return e.locked(c, target)
}

// passive is flush for the common case: it reports whether there is a passive target
// epoch with one of the first 64 targets, which no call changes.
func (e *epochs) passive(target int) bool {
	s, t := e.load(), uint(target)
	if s&(freed|callMask<<accessShift) != 0 {
		return false
	}
	return s&anyRequest != 0 || s >= oneLock && t < 64 && atomic.LoadUint64(&e.near[t/16])>>(t%16*4)&opened != 0
}

// flushAll allows FlushAll, FlushLocalAll and Sync (MPI-4.0 §12.5.4).
func (e *epochs) flushAll(c Call) error { return e.locked(c, -1) }

// opAlone is op where no epoch of all targets is open.
func (e *epochs) opAlone(target int) error {
	if t := uint(target); t < 64 && atomic.LoadUint64(&e.near[t/16])>>(t%16*4)&opened != 0 {
		return nil
	}
	return e.opFar(target)
}

// opFar is opAlone for targets from 64 on, and for what is not allowed.
func (e *epochs) opFar(target int) error {
	if e.is(opened, target) {
		return nil
	}
	for {
		s := e.load()
		switch {
		case s&freed != 0 || s.accessCall() != 0:
			return e.refuse(CallOp, target, s, overOrBusy(s))
		case s&anyTarget != 0:
			return nil
		case s.locks() > 0:
			if target < 0 {
				return nil
			}
			return e.refuse(CallOp, target, s, e.notLocked(target))
		case s&started != 0:
			if target < 0 {
				return nil
			}
			return e.refuse(CallOp, target, s, notInGroup)
		case s&fenced == 0:
			return e.refuse(CallOp, target, s, noEpoch)
		case e.swap(s, s|anyTarget):
			return nil
		}
	}
}

// locked allows what belongs to passive target epochs; target −1 stands for every
// target that is locked.
func (e *epochs) locked(c Call, target int) error {
	s := e.load()
	switch {
	case s&freed != 0 || s.accessCall() != 0:
		return e.refuse(c, target, s, overOrBusy(s))
	case s&anyRequest != 0:
		return nil
	case s.locks() == 0:
		return e.refuse(c, target, s, noLock)
	case target < 0 || e.is(opened, target):
		return nil
	}
	return e.refuse(c, target, s, e.notLocked(target))
}

// notLocked is why a target is not open while others are locked.
func (e *epochs) notLocked(target int) reason {
	if e.is(claimed, target) {
		return targetBusy
	}
	return targetNotLocked
}

// is reports whether one of the bits of a target is set.
func (e *epochs) is(bits uint64, target int) bool {
	return e.bits(target)&bits != 0
}

// at is the block of a target, or nil if no call has named one of its targets.
func (e *epochs) at(target int) *targetBlock {
	if uint(target) < 64 {
		return &e.near
	}
	list := e.far.Load()
	if list == nil || target < 0 {
		return nil
	}
	return (*list)[target/64-1].Load()
}

// grow is at, and makes the block if there is none.
func (e *epochs) grow(target int) *targetBlock {
	if b := e.at(target); b != nil {
		return b
	}
	if e.far.Load() == nil {
		list := make([]atomic.Pointer[targetBlock], (e.size-1)/64)
		e.far.CompareAndSwap(nil, &list)
	}
	place := &(*e.far.Load())[target/64-1]
	place.CompareAndSwap(nil, new(targetBlock))
	return place.Load()
}

// openClaimed opens the claimed targets, for Start. For the holder.
func (e *epochs) openClaimed() {
	e.words(func(w *uint64) { membar.StoreRelease(w, *w|*w&(claimed*eachTarget)/claimed*opened) }) // pairs with bits
}

// keep leaves the given bits of all targets. For the holder.
func (e *epochs) keep(bits uint64) {
	e.words(func(w *uint64) { membar.StoreRelease(w, *w&(bits*eachTarget)) }) // pairs with bits
}

// words calls f for each word of the blocks that there is.
func (e *epochs) words(f func(*uint64)) {
	for i := range e.near {
		f(&e.near[i])
	}
	if list := e.far.Load(); list != nil {
		for i := range *list {
			if b := (*list)[i].Load(); b != nil {
				for j := range b {
					f(&b[j])
				}
			}
		}
	}
}
