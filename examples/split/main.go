// Command split multiplies a matrix with a vector on a grid of ranks, each of which
// has one block of the matrix. Split makes a communicator of each row of the grid and
// one of each column. The blocks of the vector come down the columns (Bcast), the
// products of a row are added up along it (Allreduce), and Exscan down a column tells
// each row of the grid where its part of the result begins. With a launcher the ranks
// are processes, without one they are goroutines: as many as the argument says, or one
// for each core.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"

	"github.com/weft-mpi/weft/mpi"
)

func main() {
	ranks := 0
	if len(os.Args) > 1 {
		n, err := strconv.Atoi(os.Args[1])
		if err != nil || n < 1 {
			log.Fatalf("the argument is the number of ranks, not %q", os.Args[1])
		}
		ranks = n
	}
	if err := mpi.Run(ranks, func(w *mpi.World) error { return multiply(w.Comm(), os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

// shape is the grid of n ranks with as many columns as rows, or as few more as n
// permits.
func shape(n int) (rows, columns int) {
	rows = 1
	for r := 2; r*r <= n; r++ {
		if n%r == 0 {
			rows = r
		}
	}
	return rows, n / rows
}

// Blocks of the matrix have a height that differs between rows of the grid, and one
// width.
func height(row int) int { return 2 + row }

const width = 3

// The matrix and the vector, by their indices.
func matrix(i, j int) int { return (i+1)*(j+2)%7 - 3 }
func vector(j int) int    { return j%5 - 1 }

// multiply runs one rank. Rank 0 prints the result to out.
func multiply(world *mpi.Comm, out io.Writer) error {
	_, columns := shape(world.Size())
	r, c := world.Rank()/columns, world.Rank()%columns

	// Ranks of one color are together, in the order of the key.
	row, err := world.Split(r, c)
	if err != nil {
		return err
	}
	column, err := world.Split(c, r)
	if err != nil {
		return err
	}
	if err := errors.Join(row.SetName(fmt.Sprint("row ", r)), column.SetName(fmt.Sprint("column ", c))); err != nil {
		return err
	}

	// The first row of the grid has the vector. Row r begins behind the lines of those
	// above; the first one has nobody above it, and Exscan leaves its 0.
	x, first := make([]int, width), []int{0}
	if r == 0 {
		for j := range x {
			x[j] = vector(c*width + j)
		}
	}
	if err := mpi.Bcast(column, x, 0); err != nil {
		return err
	}
	if err := mpi.Exscan(column, mpi.Sum, []int{height(r)}, first); err != nil {
		return err
	}

	// This rank's block times its part of the vector, then the sum of the row's.
	y := make([]int, height(r))
	for i := range y {
		for j := range x {
			y[i] += matrix(first[0]+i, c*width+j) * x[j]
		}
	}
	if err := mpi.Allreduce(row, mpi.Sum, mpi.InPlace[int](), y); err != nil {
		return err
	}
	for i := range y {
		if want := line(first[0]+i, columns*width); y[i] != want {
			return fmt.Errorf("line %d at %d, %d of the grid is %d, want %d", first[0]+i, r, c, y[i], want)
		}
	}

	// The first column of the grid has all of the result: rank 0 collects it.
	if c == 0 {
		if err := show(column, first[0], y, columns, out); err != nil {
			return err
		}
	}
	return errors.Join(row.Disconnect(), column.Disconnect())
}

// line is line i of the product, computed alone.
func line(i, n int) (sum int) {
	for j := range n {
		sum += matrix(i, j) * vector(j)
	}
	return sum
}

// show prints the result, of which each rank of the column has the lines y from first
// on.
func show(column *mpi.Comm, first int, y []int, columns int, out io.Writer) error {
	rows := column.Size()
	counts, offsets, all := make([]int, rows), make([]int, rows), []int(nil)
	if err := mpi.Gather(column, []int{len(y)}, counts, 0); err != nil {
		return err
	}
	if err := mpi.Gather(column, []int{first}, offsets, 0); err != nil {
		return err
	}
	if column.Rank() == 0 {
		all = make([]int, offsets[rows-1]+counts[rows-1])
	}
	if err := mpi.Gatherv(column, y, all, counts, offsets, 0); err != nil || column.Rank() > 0 {
		return err
	}
	for r, first := range offsets {
		if _, err := fmt.Fprintf(out, "row %d of the grid: lines from %d on: %v\n", r, first, all[first:first+counts[r]]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d x %d ranks multiplied %d x %d numbers\n", rows, columns, len(all), columns*width)
	return err
}
