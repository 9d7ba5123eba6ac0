// Command life is Conway's Game of Life on a torus: the last row of cells is above the first
// one, and the last column to the left of the first. Each rank has a block of cells, in a
// grid of ranks that is as near to square as their number permits. For each generation it
// sends the edges and corners of its block to its eight neighbours, and receives theirs
// around the block, all by one Alltoallw. In a small grid several neighbours are one rank,
// which may be the rank itself. Rank 0 receives all blocks at their places in the whole
// board and prints it: at the end, with -show each generation. With a launcher the ranks are
// processes, without one they are goroutines: as many as the argument says, or one for each
// core.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strconv"

	"github.com/weft-mpi/weft/mpi"
)

func main() {
	show := flag.Bool("show", false, "print each generation")
	flag.Parse()
	ranks := 0
	if flag.NArg() > 0 {
		n, err := strconv.Atoi(flag.Arg(0))
		if err != nil || n < 1 {
			log.Fatalf("the argument is the number of ranks, not %q", flag.Arg(0))
		}
		ranks = n
	}
	if err := mpi.Run(ranks, func(w *mpi.World) error { return live(w.Comm(), *show, os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

const (
	generations   = 60
	height, width = 9, 17 // of a block
	alive, dead   = '#', '.'
)

// live runs one rank. Rank 0 prints to out.
func live(c *mpi.Comm, show bool, out io.Writer) error {
	g := gridOf(c.Size())
	block := g.first(c.Rank())
	edges, err := g.pieces(c.Rank(), 0, block)
	around, err2 := g.pieces(c.Rank(), 1, block)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for i := range generations {
		if show {
			err = g.print(c, block, i, out)
		}
		if err := errors.Join(err, c.Alltoallw(edges, around)); err != nil {
			return err
		}
		advance(block)
	}
	return g.print(c, block, generations, out)
}

// advance makes a block its next generation.
func advance(block []byte) {
	now := slices.Clone(block)
	for cell := range height * width {
		i, n := inner(cell), 0
		for _, d := range directions {
			if now[i+d[0]*stride+d[1]] == alive {
				n++
			}
		}
		block[i] = dead
		if n == 3 || n == 2 && now[i] == alive {
			block[i] = alive
		}
	}
}

// print sends the blocks to rank 0, which prints the whole board.
func (g grid) print(c *mpi.Comm, block []byte, generation int, out io.Writer) error {
	page := bytes.Repeat(append(bytes.Repeat([]byte{dead}, g.columns*width), '\n'), g.rows*height)
	send, recv := make([]mpi.Buf, c.Size()), make([]mpi.Buf, c.Size())
	send[0] = mpi.Subarray(block, []int{height + 2, stride}, []int{height, width}, []int{1, 1})
	for rank := 0; rank < c.Size() && c.Rank() == 0; rank++ {
		start := []int{rank / g.columns * height, rank % g.columns * width}
		recv[rank] = mpi.Subarray(page, []int{g.rows * height, g.columns*width + 1}, []int{height, width}, start)
	}
	if err := c.Alltoallw(send, recv); err != nil || c.Rank() > 0 {
		return err
	}
	_, err := fmt.Fprintf(out, "%sgeneration %d by %d x %d ranks: %d alive\n", page, generation, g.rows, g.columns, bytes.Count(page, []byte{alive}))
	return err
}
