package diagnose

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

const module = "github.com/weft-mpi/weft/"

// engine are the packages between a program's call and an operation: their lines
// do not help the program's author.
var engine = []string{"mpi", "comm", "partitioned", "pt2pt", "progress", "rma"}

// Place returns the function and line of the program for callers: the first one
// outside of the engine, or "" if none is known. callers are program counters
// around the call of an operation, as of frames.Callers. Local.
func Place(callers [3]uintptr) string {
	if callers[0] == 0 {
		return ""
	}
	return Caller(callers[:])
}

// Caller is Place for any number of program counters, such as runtime.Callers gives.
func Caller(callers []uintptr) string {
	frames := runtime.CallersFrames(callers)
	for {
		f, more := frames.Next()
		name, ours := strings.CutPrefix(f.Function, module)
		pkg, _, _ := strings.Cut(strings.TrimPrefix(name, "internal/"), ".")
		if f.File != "" && !(ours && slices.Contains(engine, pkg)) {
			return fmt.Sprintf("%s at %s:%d", f.Function, f.File, f.Line)
		}
		if !more {
			return ""
		}
	}
}
