package fabrictest

import "unsafe"

// address is where b lies.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// wordOf is the first 8 bytes of b, which are aligned, as a word for atomics.
func wordOf(b []byte) *uint64 { return (*uint64)(unsafe.Pointer(unsafe.SliceData(b))) }
