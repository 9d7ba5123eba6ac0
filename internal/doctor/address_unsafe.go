package doctor

import "unsafe"

// addressOf is where b starts, for another process. The caller keeps b, which is not of
// a stack.
func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
