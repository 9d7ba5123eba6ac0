// Command stencil computes how heat spreads over a plate whose edges have a fixed
// temperature (Jacobi's method). The plate is cut into blocks, one for each rank of a grid
// of ranks that is as near to square as their number permits (CartCreate). In each step a
// rank sends the edges of its block to its neighbours, and receives theirs around the block,
// by one persistent call (NeighborAlltoallwInit): rows and columns, which are views of one
// slice (mpi.Subarray). At the end rank 0 receives the blocks at their places in the whole
// plate, and compares it with the one that it has computed alone. With a launcher the ranks
// are processes, without one they are goroutines: as many as the argument says, or one for
// each core.
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
	if err := mpi.Run(ranks, func(w *mpi.World) error { return spread(w.Comm(), os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

const steps = 60

// spread runs one rank. Rank 0 of the grid prints some of the result to out.
func spread(world *mpi.Comm, out io.Writer) error {
	c, err := world.CartCreate(mpi.CartOptions{Dims: []int{0, 0}, Reorder: true})
	if err != nil {
		return err
	}
	cart, err := c.Cart()
	if err != nil {
		return err
	}
	g := gridOf(cart.Dims)
	b := g.block(cart.Coords)
	now, next := b.plate(), b.plate()
	nowHalo, err := b.halo(c, now)
	if err != nil {
		return err
	}
	nextHalo, err := b.halo(c, next)
	if err != nil {
		return err
	}
	for range steps {
		if err := nowHalo.Start(); err != nil {
			return err
		}
		if _, err := nowHalo.Wait(); err != nil {
			return err
		}
		relax(now, next, b.width+2)
		now, next, nowHalo, nextHalo = next, now, nextHalo, nowHalo
	}
	return errors.Join(nowHalo.Free(), nextHalo.Free(), collect(c, g, b, now, out), c.Free())
}

// halo sends the edges of the block to the neighbours and receives theirs around it, each
// time that it is started: to the left, to the right, up and down, as the dimensions of the
// grid are columns and rows. At the edge of the plate there is no neighbour, and the cells
// around stay as they are.
func (b block) halo(c *mpi.Comm, plate []float64) (mpi.Request, error) {
	part := func(rows, columns, top, left int) mpi.Buf {
		return mpi.Subarray(plate, []int{b.height + 2, b.width + 2}, []int{rows, columns}, []int{top, left})
	}
	row := func(top int) mpi.Buf { return part(1, b.width, top, 1) }
	column := func(left int) mpi.Buf { return part(b.height, 1, 1, left) }
	edges := []mpi.Buf{column(1), column(b.width), row(1), row(b.height)}
	around := []mpi.Buf{column(0), column(b.width + 1), row(0), row(b.height + 1)}
	return c.NeighborAlltoallwInit(edges, around)
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
func collect(c *mpi.Comm, g grid, mine block, plate []float64, out io.Writer) error {
	inner := mpi.Subarray(plate, []int{mine.height + 2, mine.width + 2}, []int{mine.height, mine.width}, []int{1, 1})
	sent, err := c.Isend(inner, 0, 0)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		whole := block{0, 0, g.height, g.width}
		all := whole.plate()
		for rank := range c.Size() {
			coords, err := c.CartCoords(rank)
			if err != nil {
				return err
			}
			b := g.block(coords)
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
