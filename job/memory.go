package job

import "github.com/weft-mpi/weft/fabric/shm"

// ErrNotAlloc answers a Free of memory that is not Alloc's.
var ErrNotAlloc = shm.ErrNotArena

// Alloc returns n zeroed bytes that local ranks reach without a system call, and
// that RDMA devices register once: they are not the garbage collector's, and the
// caller's until Free. The error is the system's. Local.
func Alloc(n int) ([]byte, error) { return shm.Alloc(n) }

// Free gives memory of Alloc back: b is what Alloc returned, or starts where it
// does. No operation may still use it. Local.
func Free(b []byte) error { return shm.Free(b) }

// arena is the memory of Alloc, for the transport that registers it: transports do
// not know one another.
type arena struct{}

func (arena) Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool) {
	return shm.Allocation(addr)
}
func (arena) OnFree(f func(start uintptr)) (cancel func()) { return shm.OnFree(f) }
