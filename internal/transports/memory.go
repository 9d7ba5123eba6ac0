package transports

import "github.com/weft-mpi/weft/fabric/shm"

// ErrNotAlloc is returned by Free for memory that is not Alloc's.
var ErrNotAlloc = shm.ErrNotArena

// Alloc returns n zeroed bytes that local ranks reach without a system call, and
// that RDMA devices register once. They are outside of the garbage collector's
// heap and the caller's until Free. The error is the system's. Local.
func Alloc(n int) ([]byte, error) { return shm.Alloc(n) }

// Apart returns why other processes can't map memory of Alloc, nil if they can. Local.
func Apart(b []byte) error { return shm.Apart(b) }

// Free frees memory of Alloc: b is Alloc's result, or starts at its beginning.
// No operation may still use it. Local.
func Free(b []byte) error { return shm.Free(b) }

// arena is the memory of Alloc, for the transport that registers it: transports
// do not import one another.
type arena struct{}

func (arena) Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool) {
	return shm.Allocation(addr)
}
func (arena) OnFree(f func(start uintptr)) (cancel func()) { return shm.OnFree(f) }
