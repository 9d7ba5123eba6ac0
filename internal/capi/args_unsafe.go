package capi

import (
	"math"
	"slices"
	"unsafe"

	"github.com/weft-mpi/weft/mpi"
)

// Args are the arguments of a call, in the order of the C function's: struct weft_args of
// weft.h, in memory of C's.
type Args struct {
	object uint64 // whose error handler sees an error: a handle, of kind
	kind   Kind   // kindNone: MPI_COMM_SELF's
	large  int32  // not 0: the function is one with _c, so counts have 64 bits
	words  [16]uint64
}

// ArgsAt is the arguments at an address.
func ArgsAt(p unsafe.Pointer) *Args { return (*Args)(p) }

// pointer is argument i as an address, nil if it is none that a program can have: C's null,
// and the small numbers that MPI has names for. No Go pointer variable may have those.
func (a *Args) pointer(i int) unsafe.Pointer {
	if a.words[i] < firstSlot {
		return nil
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&a.words[i]))
}

func (a *Args) int(i int) int   { return int(int32(a.words[i])) }
func (a *Args) flag(i int) bool { return int32(a.words[i]) != 0 }

// count is a count, or a number of 64 bits of another kind: an address, say.
func (a *Args) count(i int) int { return int(a.words[i]) }

// null reports whether argument i is a null pointer.
func (a *Args) null(i int) bool { return a.words[i] == 0 }

// handleAt is the handle that argument i points to.
func (a *Args) handleAt(i int) *uint64 { return (*uint64)(a.pointer(i)) }

// array is n values at argument i, nil if there are none, or more than any memory has.
func array[T any](a *Args, i, n int) []T {
	p := a.pointer(i)
	if p == nil || n <= 0 || n > room/int(unsafe.Sizeof(*new(T))) || a.words[i] > room {
		return nil
	}
	return unsafe.Slice((*T)(p), n)
}

// ints is n integers of an array.
func (a *Args) ints(i, n int) []int {
	from := array[int32](a, i, n)
	to := make([]int, len(from))
	for k, v := range from {
		to[k] = int(v)
	}
	return to
}

// counts is n counts or displacements, which have 64 bits in a function with _c.
func (a *Args) counts(i, n int) []int {
	if a.large == 0 {
		return a.ints(i, n)
	}
	return a.aints(i, n)
}

// aints is n numbers of 64 bits.
func (a *Args) aints(i, n int) []int {
	return slices.Clone(array[int](a, i, n))
}

// bools is n integers that are true unless they are 0.
func (a *Args) bools(i, n int) []bool {
	from := array[int32](a, i, n)
	to := make([]bool, len(from))
	for k, v := range from {
		to[k] = v != 0
	}
	return to
}

func (a *Args) setInt(i, v int) {
	if p := (*int32)(a.pointer(i)); p != nil {
		*p = int32(v)
	}
}

func (a *Args) setFlag(i int, v bool) {
	if v {
		a.setInt(i, 1)
	} else {
		a.setInt(i, 0)
	}
}

// setAint sets what argument i points to, of 64 bits.
func (a *Args) setAint(i, v int) {
	if p := (*int64)(a.pointer(i)); p != nil {
		*p = int64(v)
	}
}

// setCount sets a count that argument i points to. One that is too large for an int is
// MPI_UNDEFINED (MPI-4.0 §3.2.5).
func (a *Args) setCount(i, v int) {
	switch {
	case a.large != 0:
		a.setAint(i, v)
	case v > math.MaxInt32 || v < math.MinInt32:
		a.setInt(i, mpi.Undefined)
	default:
		a.setInt(i, v)
	}
}

// setInts sets an array of integers, as many as there is room for.
func (a *Args) setInts(i int, v []int, room int) {
	for k, to := 0, array[int32](a, i, min(room, len(v))); k < len(to); k++ {
		to[k] = int32(v[k])
	}
}

// string is a string of C's.
func (a *Args) string(i int) string {
	p := (*byte)(a.pointer(i))
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// setString sets a string of C's with its final zero, cut so that both fit in room bytes,
// and returns its length.
func (a *Args) setString(i int, s string, room int) int {
	to := array[byte](a, i, room)
	if len(to) == 0 {
		return 0
	}
	n := copy(to[:len(to)-1], s)
	to[n] = 0
	return n
}

// inReach reports whether n small elements at an address need no closer look: it is one that
// a program can have, and there are not so many that their bytes are past all memory.
func inReach(at uint64, n int) bool { return at-firstSlot < room && uint(n) < 1<<28 }

// memory is count elements of a type at an address. A Buf of memory that no program has is
// refused by its call, with ErrBuffer.
func (a *Args) memory(addr, count, typ int) mpi.Buf {
	n, at := a.count(count), a.words[addr]
	t := types.get(a.words[typ])
	if t != nil && t.dense && inReach(at, n) {
		return mpi.Memory(t.t, unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), at)), n*t.hi), n, 0)
	}
	if at == inPlace {
		return mpi.BufInPlace
	}
	return a.array(addr, n, typ)
}

// signed says that messages carry what their elements are (mpi.WithTypeChecks).
var signed bool

// plain is buf as bytes, of a predefined type without gaps; false if it is anything else. C
// has looked whether the handle is one.
func (a *Args) plain(i int) ([]byte, bool) {
	n, at, size := a.count(i+1), a.words[i], int(slotOf(kindDatatype, a.words[i+2]).ints[1])
	if size == 0 || signed || !inReach(at, n) {
		return nil, false
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), at)), n*size), true
}

// buf is memory of three arguments in a row: address, count and type.
func (a *Args) buf(i int) mpi.Buf { return a.memory(i, i+1, i+2) }

// elements is n elements of a type, whose first one is at addr, and which lie from lo to hi
// bytes behind it.
func (a *Args) elements(addr uint64, t *datatype, n, lo, hi int) mpi.Buf {
	of := t.t
	if addr == bottom && lo != hi {
		of, addr = t.onGround(), uint64(t.lo)
		lo, hi = lo-t.lo, hi-t.lo
	}
	lo, hi = min(lo, 0), max(hi, 0) // displacement 0 is in the memory of a Buf
	return mpi.Memory(of, bytesAt(addr+uint64(lo), hi-lo), n, -lo)
}

// bytesAt is n bytes of the program's memory: nil at an address that no program has. The
// bytes of a type for MPI_BOTTOM may reach from the heap to a stack.
func bytesAt(addr uint64, n int) []byte {
	if addr < firstSlot || addr > room || n <= 0 || n > room {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), addr)), n)
}
