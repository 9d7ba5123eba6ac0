//go:build amd64 && !race

package progress

// coreLocal says that takeLocal exists: one instruction, atomic towards other
// threads of the same core only.
const coreLocal = true

// takeLocal sets the word and reports whether it was 0.
//
//go:noescape
func takeLocal(word *uint32) bool
