//go:build !amd64 && !arm64

package pt2pt

// callers knows nothing of other architectures' frames.
func callers(pcs *[3]uintptr) { *pcs = [3]uintptr{} }
