package capi

import (
	"unsafe"

	"github.com/weft-mpi/weft/mpi"
)

// sliceCalls are the collective calls that programs make most, on slices of a type: they
// take half as long as those on Bufs, to which they leave memory that is no slice.
type sliceCalls struct{ bcast, reduce, allreduce func(a *Args) error }

// onSlices has the calls for the predefined types of numbers, by their handles.
var onSlices [1024]*sliceCalls

var slicesByName = map[string]*sliceCalls{
	"int8": sliceCallsOf[int8](), "uint8": sliceCallsOf[uint8](), "int16": sliceCallsOf[int16](), "uint16": sliceCallsOf[uint16](),
	"int32": sliceCallsOf[int32](), "uint32": sliceCallsOf[uint32](), "int64": sliceCallsOf[int64](), "uint64": sliceCallsOf[uint64](),
	"float32": sliceCallsOf[float32](), "float64": sliceCallsOf[float64](),
	"complex64": sliceCallsOf[complex64](), "complex128": sliceCallsOf[complex128](),
}

// slices is the calls for the type that argument i is, or nil if it has none.
func (a *Args) slices(i int) *sliceCalls {
	if h := a.words[i]; h < uint64(len(onSlices)) {
		return onSlices[h]
	}
	return nil
}

// slice is the memory of two arguments as a slice; ok is false if it is none.
func slice[T mpi.Scalar](a *Args, addr, count int) (s []T, ok bool) {
	at, n, align := a.words[addr], a.count(count), unsafe.Alignof(*new(T))
	if !inReach(at, n) || at%uint64(align) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(nil), at)), n), true
}

// input is slice for what may be MPI_IN_PLACE.
func input[T mpi.Scalar](a *Args, addr, count int) (s []T, ok bool) {
	if a.words[addr] == inPlace {
		return mpi.InPlace[T](), true
	}
	return slice[T](a, addr, count)
}

func sliceCallsOf[T mpi.Scalar]() *sliceCalls {
	return &sliceCalls{
		bcast: func(a *Args) error {
			buf, ok := slice[T](a, 0, 1)
			if !ok || a.int(3) < 0 {
				return a.bcastBufs()
			}
			return mpi.Bcast(a.comm(4), buf, a.int(3))
		},
		reduce: func(a *Args) error {
			c, root := a.comm(6), a.int(5)
			send, ok := input[T](a, 0, 2)
			if !ok || c.TestInter() || a.words[4] >= firstSlot {
				return a.reduceBufs()
			}
			var recv []T
			if root == c.Rank() {
				if recv, ok = slice[T](a, 1, 2); !ok {
					return a.reduceBufs()
				}
			}
			return mpi.Reduce(c, a.operator(4, 3), send, recv, root)
		},
		allreduce: func(a *Args) error {
			send, given := input[T](a, 0, 2)
			recv, ok := slice[T](a, 1, 2)
			if !ok || !given || a.words[4] >= firstSlot {
				return a.allreduceBufs()
			}
			return mpi.Allreduce(a.comm(5), a.operator(4, 3), send, recv)
		},
	}
}
