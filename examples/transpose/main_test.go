package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/examplerun"
	"github.com/weft-mpi/weft/mpi"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// checkLine checks what a job of n ranks has printed of a matrix. Each rank has checked its
// part of the result.
func checkLine(t *testing.T, out string, n int, m matrix) {
	t.Helper()
	var ms string
	var speed float64
	rest, found := strings.CutPrefix(out, fmt.Sprintf("%d ranks transposed %d x %d elements in ", n, m.rows, m.columns))
	if _, err := fmt.Sscanf(strings.Replace(rest, ":", " ", 1), "%s %f GB/s\n", &ms, &speed); !found || err != nil || speed <= 0 {
		t.Errorf("%d ranks print %q: %v", n, out, err)
	}
}

// Also with fewer rows or columns than ranks, some of which have none then.
func TestGoroutinesTranspose(t *testing.T) {
	for _, m := range []matrix{{1, 1}, {2, 9}, {9, 2}, {31, 17}, {64, 64}, {3, 300}} {
		for _, n := range []int{1, 2, 3, 4, 6} {
			var out bytes.Buffer
			if err := mpi.Run(n, func(w *mpi.World) error { return m.transpose(w.Comm(), &out) }); err != nil {
				t.Errorf("%d ranks, %+v: %v", n, m, err)
				continue
			}
			checkLine(t, out.String(), n, m)
		}
	}
}

func TestAWrongElementIsFound(t *testing.T) {
	m := matrix{3, 2}
	err := mpi.Run(1, func(w *mpi.World) error {
		for i := range 6 {
			result := []float64{0, 2, 4, 1, 3, 5}
			if err := m.check(w.Comm(), result); err != nil {
				return err
			}
			if result[i]++; m.check(w.Comm(), result) == nil {
				return fmt.Errorf("%v is taken for the result", result)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestProcessesTranspose(t *testing.T) {
	examplerun.Processes(t, 6, func(t *testing.T, out string, n int) { checkLine(t, out, n, matrix{701, 502}) })
}
