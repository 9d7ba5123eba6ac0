//go:build !amd64 && !arm64

package progress

// Callers knows nothing of other architectures' frames.
func Callers(pcs *[3]uintptr) { *pcs = [3]uintptr{} }
