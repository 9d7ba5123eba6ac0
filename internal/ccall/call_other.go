//go:build !amd64 || !linux || asan || msan

package ccall

// Available says whether Call can be used: not here.
const Available = false

// Call is not available.
func Call(fn, top, a, b, c, d, e, f uintptr) uint64 { return 0 }
