package shm

// rawCMA is process_vm_readv(2) or process_vm_writev(2) with one range on each
// side. It returns what the kernel does: bytes, or minus the errno. It bypasses
// the scheduler.
//
//go:noescape
func rawCMA(call, thread uintptr, local, remote *[2]uint64) int
