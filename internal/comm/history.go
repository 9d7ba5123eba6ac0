package comm

import (
	"fmt"
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/membar"
)

// history has the signatures of a communicator's last collective calls, for ranks
// that compare theirs (compare.go). A call that leaves early, as the root of a Bcast
// does, is in it still.
//
// The goroutine that makes a call notes it by two stores, first of alike and then of
// call. The owner of the loop loads call, alike and call again (of). An entry's
// alike has eight bits of the number too, so that one of another lap is seen.
//
// Communicators of windows make few calls, and there may be thousands of them: the
// entries of the first calls are in few, and only then is there memory for more.
type history struct {
	few [fewCalls]entry
	all atomic.Pointer[[historySize]entry] // stored by grow, loaded by note and of
}

const (
	historySize = 64
	fewCalls    = 4 // numbers 1 to 4
)

type entry struct {
	_     [0]atomic.Uint64 // aligns the words
	call  uint64           // number<<32 | signature.what
	alike uint64           // number/historySize<<56 | signature.alike
}

// signature is what a rank's collective call is, as far as all ranks of the
// communicator give it alike.
type signature struct {
	what  uint32 // nonblocking, persistent or checked | call<<16 | operator
	alike coll.Alike
}

const (
	callShift   = 16
	nonblocking = 1 << 24 // the call is
	checked     = 1 << 25 // ranks compare it before anything else, see check.go
	persistent  = 1 << 26 // the call is
	alikeMask   = 1<<56 - 1
)

// note adds the call of a number.
func (h *history) note(number uint32, s signature) {
	all := h.all.Load()
	if all == nil && number-1 >= fewCalls {
		all = h.grow()
	}
	e := h.entry(all, number)
	membar.StoreRelease(&e.alike, uint64(number/historySize)<<56|uint64(s.alike)) // pairs with the load in of
	membar.StoreRelease(&e.call, uint64(number)<<32|uint64(s.what))               // pairs with the loads in of
}

// entry is that of a call: one of few as long as there is no memory for more.
func (h *history) entry(all *[historySize]entry, number uint32) *entry {
	if all == nil {
		return &h.few[number-1]
	}
	return &all[number%historySize]
}

// grow makes room for the last calls, with those in it that there are.
func (h *history) grow() *[historySize]entry {
	all := new([historySize]entry)
	for i := range h.few {
		all[i+1].alike, all[i+1].call = atomic.LoadUint64(&h.few[i].alike), atomic.LoadUint64(&h.few[i].call)
	}
	h.all.Store(all)
	return all
}

// of returns the signature of the call of a number: none if that has not been made
// yet, or long ago.
func (h *history) of(number uint32) (s signature, ok bool) {
	all := h.all.Load()
	if all == nil && number-1 >= fewCalls {
		return signature{}, false
	}
	e := h.entry(all, number)
	call := atomic.LoadUint64(&e.call) // pairs with the store in note
	alike := atomic.LoadUint64(&e.alike)
	if uint32(call>>32) != number || uint32(call) == 0 || uint8(alike>>56) != uint8(number/historySize) || atomic.LoadUint64(&e.call) != call {
		return signature{}, false
	}
	return signature{uint32(call), coll.Alike(alike & alikeMask)}, true
}

// counter counts the collective calls of a communicator.
type counter struct {
	_ [0]atomic.Uint64 // aligns the word
	n uint64           // atomic
}

func (c *counter) Load() uint32        { return uint32(atomic.LoadUint64(&c.n)) } // pairs with the store in next
func (c *counter) Add(k uint32) uint32 { return uint32(atomic.AddUint64(&c.n, uint64(k))) }

// next is Add(1) for a blocking call, without a locked instruction. Only a program that
// breaks the rules makes another call on the communicator at the same time.
func (c *counter) next() uint32 {
	n := atomic.LoadUint64(&c.n) + 1
	membar.StoreRelease(&c.n, n)
	return uint32(n)
}

// signed is the signature of a call.
func signed(call coll.Call, op uint16, a coll.Alike) signature {
	return signature{uint32(call)<<callShift | uint32(op), a}
}

// later is that of the nonblocking form.
func (s signature) later() signature {
	s.what |= nonblocking
	return s
}

// again is that of the persistent form.
func (s signature) again() signature {
	s.what |= persistent
	return s
}

func (s signature) call() coll.Call { return coll.Call(s.what >> callShift & 0xff) }

// text names the call; operator names operators.
func (s signature) text(operator func(uint16) string) (text string) {
	text = s.call().String()
	switch {
	case s.what&nonblocking != 0:
		text = "nonblocking " + text
	case s.what&persistent != 0:
		text = "persistent " + text
	}
	if n, ok := s.alike.Bytes(); ok {
		text += fmt.Sprintf(" of %d bytes", n)
		if s.call().Blocks() {
			text += " a rank"
		}
	}
	if root, ok := s.alike.Root(); ok && s.call() == coll.ReduceScatter {
		text += fmt.Sprintf(" by counts #%x", root)
	} else if ok {
		way := "to"
		if s.call().FromRoot() {
			way = "from"
		}
		text += fmt.Sprintf(" %s root %d", way, root)
	}
	if op := uint16(s.what); op != 0 && operator != nil {
		text += " by " + operator(op)
	}
	if s.what&checked != 0 {
		text += " with checks"
	}
	return text
}

// tagBit is what the tag of the call's messages has besides, see tagOf. Creations do
// not differ there: Dup and Idup go together.
func (s signature) tagBit() int32 {
	switch {
	case s.what&nonblocking != 0:
		return laterTag
	case s.what&persistent != 0:
		return persistTag
	}
	return 0
}
