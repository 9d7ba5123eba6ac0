// Package examplerun runs the main program of a package from the package's tests: as
// goroutines, and as processes, which are the test binary started again. It imports launch
// and mpi.
package examplerun

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

// asRank is set in the environment of a process that is a rank and no test.
const asRank = "WEFT_TEST_PROGRAM"

// Main is the TestMain of the package whose main is the program.
func Main(m *testing.M, main func()) {
	if os.Getenv(asRank) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Goroutines runs ranks of 1 to most goroutines, and checks what each of these jobs has
// printed.
func Goroutines(t *testing.T, most int, rank func(c *mpi.Comm, out io.Writer) error, check func(t *testing.T, out string, n int)) {
	for n := 1; n <= most; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var out bytes.Buffer
			if err := mpi.Run(n, func(w *mpi.World) error { return rank(w.Comm(), &out) }); err != nil {
				t.Fatal(err)
			}
			check(t, out.String(), n)
		})
	}
}

// Processes runs the program as 1 to most processes, and checks what each of these jobs
// has printed.
func Processes(t *testing.T, most int, check func(t *testing.T, out string, n int)) {
	for n := 1; n <= most; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			out, err := Launch(t, launch.Launch{N: n})
			if err != nil {
				t.Fatal(err)
			}
			check(t, out, n)
		})
	}
}

// Launch runs the program as processes, as l says, and returns what they have printed and
// how the job has ended.
func Launch(t *testing.T, l launch.Launch) (out string, err error) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	l.Path, l.Env, l.Stdout, l.Stderr = exe, append(os.Environ(), asRank+"=1"), &b, os.Stderr
	err = l.Run(t.Context())
	return b.String(), err
}
