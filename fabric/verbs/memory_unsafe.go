package verbs

import (
	"sync/atomic"
	"unsafe"
)

// loadWord reads 8 aligned bytes that a device writes.
func loadWord(b []byte, off int) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&b[off])))
}
