package shm

// rawCMA is process_vm_readv(2) or process_vm_writev(2) with one range at
// either end, and answers as the kernel does: bytes, or minus the errno. The
// scheduler is not told.
//
//go:noescape
func rawCMA(call, thread uintptr, local, remote *[2]uint64) int
