//go:build amd64

package shm

import "unsafe"

// prefetchWrite makes the n bytes at p, in whole lines, writable in this core's
// cache, so that the next message's stores need not wait for the consumer's core
// to give the lines up. A processor without PREFETCHW executes it as a NOP.
//
//go:noescape
func prefetchWrite(p unsafe.Pointer, n uintptr)

// prefetchRead asks for the line at p.
//
//go:noescape
func prefetchRead(p unsafe.Pointer)

// demote hints that the n bytes at p are wanted by another core next
// (CLDEMOTE; a NOP where it does not exist).
//
//go:noescape
func demote(p unsafe.Pointer, n uintptr)
