//go:build amd64

package shm

import "unsafe"

// copyString copies n bytes by one instruction, which takes the lines that it writes
// whole without fetching what was in them. Its stores have no order among themselves,
// but later stores, such as the one that publishes the bytes, stay behind them (Intel
// SDM volume 3, §9.2.4).
//
//go:noescape
func copyString(dst, src unsafe.Pointer, n uintptr)

// hasFastStrings reports whether the processor's string instructions are fast.
func hasFastStrings() bool

// fastStrings says that copyString is used from stringMin bytes on.
var fastStrings = hasFastStrings()
