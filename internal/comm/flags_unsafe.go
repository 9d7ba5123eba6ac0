package comm

import "unsafe"

// flagAt is the flag that memory begins with: 8 bytes that canHold one.
func flagAt(b []byte) *uint64 { return (*uint64)(unsafe.Pointer(&b[:8][0])) }

// canHold reports whether memory of another rank can hold a flag.
func canHold(b []byte) bool {
	return len(b) >= 8 && uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 == 0
}
