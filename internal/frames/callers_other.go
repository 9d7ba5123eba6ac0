//go:build !amd64 && !arm64

// Package frames walks the frames of the goroutine that calls. It imports nothing of Weft.
package frames

// Callers knows nothing of other architectures' frames.
func Callers(pcs *[3]uintptr) { *pcs = [3]uintptr{} }
