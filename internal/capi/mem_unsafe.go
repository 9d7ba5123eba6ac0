package capi

import "unsafe"

// startOf is where a slice begins, 0 for one without bytes.
func startOf(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}
