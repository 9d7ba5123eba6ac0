// Command stencil computes how heat spreads over a plate whose edges have a fixed
// temperature (Jacobi's method). The plate is cut into blocks, one for each rank of a grid
// of ranks that is as near to square as their number permits. In each step a rank sends the
// edges of its block to its neighbours, and receives theirs around the block: rows and
// columns, which are views of one slice (mpi.Subarray). At the end rank 0 receives the
// blocks at their places in the whole plate, and compares it with the one that it has
// computed alone. With a launcher the ranks are processes, without one they are goroutines:
// as many as the argument says, or one for each core.
package main

import (
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
	if err := mpi.Run(ranks, func(w *mpi.World) error { return spread(w.Comm(), os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

const steps = 60

// spread runs one rank. Rank 0 prints some of the result to out.
func spread(c *mpi.Comm, out io.Writer) error {
	g := gridOf(c.Size())
	b := g.block(c.Rank())
	now, next := b.plate(), b.plate()
	nowSides, nextSides := b.sides(now), b.sides(next)
	for range steps {
		if err := exchange(c, g, nowSides); err != nil {
			return err
		}
		relax(now, next, b.width+2)
		now, next, nowSides, nextSides = next, now, nextSides, nowSides
	}
	return collect(c, g, now, out)
}

// side is a view of an edge of a block, and one of the cells around it that the neighbour
// there has the values of.
type side struct {
	down, right  int // where the neighbour is
	edge, around mpi.Buf
}

// sides are those of the block in its plate.
func (b block) sides(plate []float64) (s []side) {
	part := func(rows, columns, top, left int) mpi.Buf {
		return mpi.Subarray(plate, []int{b.height + 2, b.width + 2}, []int{rows, columns}, []int{top, left})
	}
	row := func(top int) mpi.Buf { return part(1, b.width, top, 1) }
	column := func(left int) mpi.Buf { return part(b.height, 1, 1, left) }
	return []side{
		{-1, 0, row(1), row(0)}, {1, 0, row(b.height), row(b.height + 1)},
		{0, -1, column(1), column(0)}, {0, 1, column(b.width), column(b.width + 1)},
	}
}

// exchange sends the edges of this rank's block to the neighbours and receives theirs. At
// the edge of the plate the neighbour is ProcNull, and the cells around stay as they are.
func exchange(c *mpi.Comm, g grid, sides []side) error {
	var requests []mpi.Request
	for i, s := range sides {
		to := g.neighbour(c.Rank(), s.down, s.right)
		r, err := c.Irecv(s.around, to, i^1) // what is sent up comes from below
		if err != nil {
			return err
		}
		requests = append(requests, r)
		if r, err = c.Isend(s.edge, to, i); err != nil {
			return err
		}
		requests = append(requests, r)
	}
	return mpi.Waitall(requests, nil)
}

// relax computes the next values of all cells but those around the block. A row of the
// plate has width cells.
func relax(now, next []float64, width int) {
	for top := width; top+width < len(now); top += width {
		for i := top + 1; i < top+width-1; i++ {
			next[i] = (now[i-width] + now[i-1] + now[i+1] + now[i+width]) / 4
		}
	}
}

// collect sends the blocks to rank 0, which compares them with what it computes alone.
func collect(c *mpi.Comm, g grid, plate []float64, out io.Writer) error {
	mine := g.block(c.Rank())
	inner := mpi.Subarray(plate, []int{mine.height + 2, mine.width + 2}, []int{mine.height, mine.width}, []int{1, 1})
	sent, err := c.Isend(inner, 0, 0)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		whole := block{0, 0, g.height, g.width}
		all := whole.plate()
		for rank := range c.Size() {
			b := g.block(rank)
			at := mpi.Subarray(all, []int{g.height + 2, g.width + 2}, []int{b.height, b.width}, []int{b.top + 1, b.left + 1})
			if _, err := c.Recv(at, rank, 0); err != nil {
				return err
			}
		}
		if err := compare(all, g); err != nil {
			return err
		}
		middle := all[(g.height/2+1)*(g.width+2)+g.width/2+1]
		if _, err := fmt.Fprintf(out, "%d x %d ranks computed %d x %d cells in %d steps: %.6f in the middle\n", g.rows, g.columns, g.height, g.width, steps, middle); err != nil {
			return err
		}
	}
	_, err = mpi.Wait(&sent)
	return err
}

// compare computes the whole plate alone. Its cells go through the same operations, so they
// are equal to the last bit.
func compare(all []float64, g grid) error {
	whole := block{0, 0, g.height, g.width}
	now, next := whole.plate(), whole.plate()
	for range steps {
		relax(now, next, g.width+2)
		now, next = next, now
	}
	for i, v := range now {
		if all[i] != v {
			return fmt.Errorf("row %d, column %d is %v, computed alone %v", i/(g.width+2)-1, i%(g.width+2)-1, all[i], v)
		}
	}
	return nil
}
