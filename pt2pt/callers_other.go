//go:build !amd64 && !arm64

package pt2pt

// callers stores nothing: the frames of other architectures are unknown to it.
func callers(pcs *[3]uintptr) { *pcs = [3]uintptr{} }
