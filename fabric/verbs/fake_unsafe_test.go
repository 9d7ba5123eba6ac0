package verbs

import (
	"sync/atomic"
	"unsafe"
)

// memoryAt is n bytes at an address that somebody has registered and keeps
// alive.
func memoryAt(addr uint64, n int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
}

func storeWord(addr, v uint64) {
	atomic.StoreUint64(*(**uint64)(unsafe.Pointer(&addr)), v)
}
