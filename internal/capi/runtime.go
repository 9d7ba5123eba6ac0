package capi

import (
	"debug/elf"

	"github.com/weft-mpi/weft/mpi"
)

// isGoProgram reports whether the file is a program written in Go: the linker leaves its mark
// in all of them, stripped ones too.
func isGoProgram(file string) bool {
	f, err := elf.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Section(".note.go.buildid") != nil || f.Section(".go.buildinfo") != nil
}

// MayStart is MPI_SUCCESS if the process can be a rank, or an error code; again says that it
// has called MPI_Init before. A program in Go has a runtime of its own. This library brings
// another one, and of two each takes the signals and the threads for its own.
func MayStart(again bool) int32 {
	roomForHandlers()
	switch {
	case again:
		return said.code(fail(mpi.ErrOther, "the process has called MPI_Init before, which it can once: begin a session instead, by MPI_Session_init"))
	case isGoProgram("/proc/self/exe"):
		return said.code(fail(mpi.ErrOther, "the program is written in Go, and so is this library: two of Go's runtimes don't share a process; have the program use package %s instead", "github.com/weft-mpi/weft/mpi"))
	}
	return 0
}
