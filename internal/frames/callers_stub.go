//go:build amd64 || arm64

// Package frames walks the frames of the goroutine that calls. It imports nothing of Weft.
package frames

// Callers stores the return addresses of its caller, of that one's caller and of
// the next. It costs less than a cache miss, and reports name the line of the
// program that an operation comes from.
//
//go:noescape
func Callers(pcs *[3]uintptr)
