// Command transpose transposes a matrix whose rows are distributed over the ranks. Each rank
// puts its rows, as columns, into the window of the transposed matrix, whose rows are
// distributed as well: a single Put for each rank, whose datatypes say how the elements lie
// at both ends, between two fences. Each rank checks its rows of the result, and rank 0
// prints the shortest time. With a launcher the ranks are processes, without one they are
// goroutines: as many as the argument says, or one for each core.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

func main() {
	m := matrix{}
	flag.IntVar(&m.rows, "rows", 701, "rows of the matrix")
	flag.IntVar(&m.columns, "columns", 502, "columns of the matrix")
	flag.Parse()
	ranks := 0
	if flag.NArg() > 0 {
		n, err := strconv.Atoi(flag.Arg(0))
		if err != nil || n < 1 {
			log.Fatalf("the argument is the number of ranks, not %q", flag.Arg(0))
		}
		ranks = n
	}
	if m.rows < 1 || m.columns < 1 {
		log.Fatalf("there are no matrices of %d x %d elements", m.rows, m.columns)
	}
	if err := mpi.Run(ranks, func(w *mpi.World) error { return m.transpose(w.Comm(), os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

const rounds = 5

type matrix struct{ rows, columns int }

// share is part i of n rows in parts that differ by one at most.
func share(n, parts, i int) (first, length int) {
	first = i * n / parts
	return first, (i+1)*n/parts - first
}

// transpose runs one rank. Rank 0 prints to out.
func (m matrix) transpose(c *mpi.Comm, out io.Writer) error {
	top, height := share(m.rows, c.Size(), c.Rank())
	mine := make([]float64, height*m.columns)
	for i := range mine {
		mine[i] = float64(top*m.columns + i)
	}
	_, width := share(m.columns, c.Size(), c.Rank())
	w, err := mpi.WinAllocate[float64](c, width*m.rows, mpi.WinOptions{})
	if err != nil {
		return err
	}
	best := time.Duration(math.MaxInt64)
	for range rounds {
		clear(w.Local())
		if err := w.Fence(mpi.NoPrecede); err != nil {
			return err
		}
		start := time.Now()
		if err := errors.Join(m.put(c, w.Win, mine), w.Fence(mpi.NoSucceed)); err != nil {
			return err
		}
		best = min(best, time.Since(start))
	}
	if err := m.check(c, w.Local()); err != nil {
		return err
	}
	if c.Rank() == 0 {
		size := float64(8 * m.rows * m.columns)
		if _, err := fmt.Fprintf(out, "%d ranks transposed %d x %d elements in %v: %.3g GB/s\n", c.Size(), m.rows, m.columns, best, size/float64(best)); err != nil {
			return err
		}
	}
	return w.Free()
}

// put puts this rank's rows to all ranks.
func (m matrix) put(c *mpi.Comm, w *mpi.Win, mine []float64) error {
	top, height := share(m.rows, c.Size(), c.Rank())
	for target := range c.Size() {
		// The target has width rows of the result. A part of a row here is a column there,
		// and the next row is the column to the right of it.
		left, width := share(m.columns, c.Size(), target)
		if width == 0 || height == 0 {
			continue
		}
		column, err := mpi.TypeVector(width, 1, m.rows, mpi.TypeFloat64)
		if err != nil {
			return err
		}
		columns, err := mpi.TypeResized(column, 0, 8)
		if err != nil {
			return err
		}
		part := mpi.Strided(mine[left:], height, width, m.columns)
		err = errors.Join(columns.Commit(), w.Put(part, target, top, height, columns), columns.Free(), column.Free())
		if err != nil {
			return err
		}
	}
	return nil
}

// check compares this rank's rows of the result.
func (m matrix) check(c *mpi.Comm, result []float64) error {
	left, _ := share(m.columns, c.Size(), c.Rank())
	for i, v := range result {
		row, column := i%m.rows, left+i/m.rows
		if want := float64(row*m.columns + column); v != want {
			return fmt.Errorf("rank %d: row %d, column %d of the transposed matrix is %v, want %v", c.Rank(), column, row, v, want)
		}
	}
	return nil
}
