package capi

import (
	"sync/atomic"
	"unsafe"
)

// slot is what C knows of an object: struct weft_slot of weft.h.
type slot struct {
	handle     uint32
	handler    uint32
	ints       [3]int32 // of a communicator rank, size and remote size; of a window unit, flavor and model; of a datatype whether it can't be freed, and the bytes of an element of a predefined one without gaps, or 0; of an operator whether its function counts with 64 bits
	generation uint32
	words      [3]int64 // of a datatype size, lower bound and extent; of a window base and length; of an operator its function
	attributes uintptr
}

const (
	slots     = 1 << 20 // of each kind
	firstSlot = 4096    // handles below it are predefined, in the slot of their number
)

// memory is the slots of all kinds, in memory of C's.
var memory unsafe.Pointer

// Use sets where the slots and the receives that C writes down are, and puts what has a
// handle from the start there. It is called once, when the library is loaded.
func Use(slots, receives unsafe.Pointer) {
	memory, late.lateReceives = slots, (*lateReceives)(receives)
	predefine()
}

// slotOf is the slot of a handle.
func slotOf(k Kind, handle uint64) *slot {
	return (*slot)(unsafe.Add(memory, (uintptr(k)*slots+uintptr(handle&(slots-1)))*unsafe.Sizeof(slot{})))
}

// lives reports whether the handle is one of an object that is there.
func (s *slot) lives(handle uint64) bool {
	return handle != 0 && uint64(atomic.LoadUint32(&s.handle)) == handle
}

// publish gives the slot's handle to C: what else is in the slot is there by then.
func (s *slot) publish(handle uint32) { atomic.StoreUint32(&s.handle, handle) }

// setHandler sets the error handler, a handle.
func (s *slot) setHandler(h uint32) { atomic.StoreUint32(&s.handler, h) }

// getHandler is the error handler's handle.
func (s *slot) getHandler() uint32 { return atomic.LoadUint32(&s.handler) }
