//go:build amd64

// Package prefetch asks for cache lines before they are used. It does nothing where the
// processor is no amd64, and imports nothing of Weft.
package prefetch

import "unsafe"

// Write makes the n bytes at p, more than none, writable in this core's cache, so that
// stores need not wait for another core to give the lines up. A processor without
// PREFETCHW executes it as a NOP.
//
//go:noescape
func Write(p unsafe.Pointer, n uintptr)

// Read asks for the line at p.
//
//go:noescape
func Read(p unsafe.Pointer)
