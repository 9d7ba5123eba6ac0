package progress

import (
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/membar"
)

// ownership is the word that makes a goroutine the owner of a loop. No goroutine
// waits for it.
//
// An owner that has given it looks at the queue, and a goroutine that has queued
// something tries to take it: one of the two sees the other. On the owner's side
// that takes a full fence between its store and its load, which costs as much as
// a tenth of a short message. While the rank is alone, that is while no goroutine
// finds the loop owned, there is none. The first that does says so and has the
// kernel put a fence into all threads: an owner that had not seen it had given
// the word before that fence, or looks at the queue behind it.
type ownership struct {
	word  uint64      // freeWord, heldWord or ownedWord
	alone atomic.Bool // set by the owner; the zero value has each owner fence
	met   atomic.Bool // a goroutine has found an owner since the last calm
	quiet int         // looks after a sleep since then: of the owner
}

const (
	freeWord uint64 = iota
	ownedWord
	heldWord // free, and a request is held, see hold.go
)

// take makes the caller the owner if the word is was, freeWord or heldWord.
func (o *ownership) take(was uint64) bool {
	return atomic.CompareAndSwapUint64(&o.word, was, ownedWord)
}

func (o *ownership) is(word uint64) bool { return atomic.LoadUint64(&o.word) == word }

// give ends the ownership. Pairs with take: the next owner sees everything that
// this one did. What the caller loads behind it is ordered as said above.
func (o *ownership) give(free uint64) {
	membar.StoreRelease(&o.word, free)
	if !o.alone.Load() { // behind the store: see meet
		membar.Fence()
	}
}

// meet is called by a goroutine that has queued something and has found an owner.
// It returns true if the caller is to try again to take the word.
func (o *ownership) meet() bool {
	if !o.met.Load() {
		o.met.Store(true)
	}
	if !o.alone.Load() {
		return false // by a store before which the owner had fenced, or before whose fence it gives
	}
	o.alone.Store(false)
	membar.Process()
	return true
}

// quietTicks is how many looks of the progress thread without such a goroutine
// make the rank alone.
const quietTicks = 16

// calm is called by the owner, the progress thread, at each of its looks; those
// count that come after a sleep. Its store is a full fence: a goroutine that has
// found the rank not alone had queued before it.
func (o *ownership) calm(slept bool) {
	if o.met.Swap(false) {
		o.quiet = 0
	} else if slept {
		o.quiet++
	}
	if o.quiet == quietTicks && membar.CanProcess() {
		o.alone.Store(true)
	}
}
