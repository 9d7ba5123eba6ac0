//go:build linux && !asan && !msan

package ccall

// Available says whether Call can be used. The sanitizers of C know the stacks
// of threads only, so it can't in programs that are built with one.
const Available = true

// Call calls the C function at fn with up to six integers or pointers, and
// answers what it returns. top is the end of at least 64 KB of memory of which
// no other call makes use meanwhile; what is behind it is not touched.
//
//go:noescape
func Call(fn, top, a, b, c, d, e, f uintptr) uint64
