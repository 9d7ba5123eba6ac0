//go:build amd64

package shm

import "unsafe"

// demote hints that the n bytes at p are wanted by another core next
// (CLDEMOTE; a NOP where it does not exist).
//
//go:noescape
func demote(p unsafe.Pointer, n uintptr)
