package mpi

import (
	"math"

	"github.com/weft-mpi/weft/internal/transports"
)

// WinAllocateShared makes a window on n new elements of each rank, zeroed, that all
// ranks also reach by loads and stores: Shared returns the part of any rank
// (MPI_Win_allocate_shared, MPI-4.0 §12.2.3). The parts lie one behind the other in the
// order of ranks, each at a cache line unless Adjoining is set; with Noncontiguous, or the
// hint alloc_shared_noncontig, anywhere. The ranks of c must
// be able to share memory, as those of SplitType(TypeShared); else the call fails with
// ErrRMAShared at all. Other errors are those of WinAllocate. For the rest it is
// WinAllocate. Non-local.
func WinAllocateShared[T Scalar](c *Comm, n int, o WinOptions) (Window[T], error) {
	const call = "WinAllocateShared"
	k := windowOf[T](c, call, FlavorShared, o)
	k.part.Reached, k.part.Adjoins = true, o.Adjoining
	if hinted, _ := k.info.Get(noncontiguous); o.Noncontiguous || hinted == "true" {
		k.allocate(n, sizeOf[T]())
		return made[T](k.make())
	}
	if n < 0 || n > math.MaxInt/sizeOf[T]() {
		k.spec.Failed = badArg(call, ErrSize, "%d elements of %d bytes", n, sizeOf[T]())
	} else {
		k.part.Bytes = n * sizeOf[T]()
	}
	k.part.Share = func(bytes int) ([]byte, error) {
		if bytes == 0 {
			return nil, nil
		}
		b, free, err := transports.AllocBlock(bytes)
		if err != nil {
			return nil, allocError(call, err)
		}
		k.win.free = free
		return b, k.unshared(b)
	}
	return made[T](k.make())
}

// Shared is the part of a rank of the window where loads and stores of this process
// reach it (MPI_Win_shared_query, MPI-4.0 §12.2.3): always in a window of
// WinAllocateShared, and of WinAllocate and WinCreate between ranks that can share
// memory. Else the error is ErrRMAShared. With ProcNull it is the first part that is not
// empty. The slice must not be used after Free. What Local says of accesses holds here
// too. Local.
func (w Window[T]) Shared(rank int) ([]T, error) {
	const call = "Window.Shared"
	if err := w.checkTarget(call, rank); err != nil {
		return nil, err
	}
	if rank == ProcNull {
		rank = 0
		for r := range w.c.size {
			if n, _ := w.core.Size(r); n > 0 {
				rank = r
				break
			}
		}
	}
	b := w.core.Reached(rank)
	if b == nil && w.core.Separate() {
		return nil, w.raise(badArg(call, ErrRMAShared, "the window has separate memory to check accesses, and no rank reaches the part of another then: use Get and Put, or make it WinUnified"))
	}
	if b == nil {
		return nil, w.raise(badArg(call, ErrRMAShared, "the part of rank %d is not in memory that this rank reaches: allocate the window, on ranks of one machine", rank))
	}
	return ofBytes[T](b[:len(b)/sizeOf[T]()*sizeOf[T]()]), nil
}
