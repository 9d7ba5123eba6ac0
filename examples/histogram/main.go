// Command histogram counts numbers that all ranks draw in a histogram that is spread over
// the ranks. A rank adds to the bin of each of its numbers (Accumulate), wherever that
// bin is, between one LockAll and its UnlockAll; the rank that has the bin makes no call
// for it. Each rank then compares its bins with those of a histogram that it has counted
// alone, and rank 0 gets them all and prints them. With a launcher the ranks are
// processes, without one they are goroutines: as many as the argument says, or one for
// each core.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
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
	if err := mpi.Run(ranks, func(w *mpi.World) error { return count(w.Comm(), os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

const (
	binsEach = 4    // bins of a rank
	draws    = 2000 // numbers of a rank
)

// bin is that of number i of a rank, among all bins of n ranks: low ones have more.
func bin(rank, i, n int) int {
	x := uint64(rank*draws+i+1) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	all := uint64(binsEach * n)
	return int(min(x%all, x>>32%all))
}

// alone is the histogram of n ranks, counted by one.
func alone(n int) []int64 {
	all := make([]int64, binsEach*n)
	for rank := range n {
		for i := range draws {
			all[bin(rank, i, n)]++
		}
	}
	return all
}

// count runs one rank. Rank 0 prints the histogram to out.
func count(c *mpi.Comm, out io.Writer) error {
	n, me := c.Size(), c.Rank()
	w, err := mpi.WinAllocate[int64](c, binsEach, mpi.WinOptions{})
	if err != nil {
		return err
	}
	err = errors.Join(w.SetName("histogram"), w.LockAll())
	if err != nil {
		return err
	}
	one := []int64{1}
	for i := range draws {
		b := bin(me, i, n)
		if err := w.Accumulate(mpi.Sum, one, b/binsEach, b%binsEach); err != nil {
			return err
		}
	}
	// UnlockAll ends this rank's operations at their targets, the barrier those of all.
	if err := errors.Join(w.UnlockAll(), c.Barrier()); err != nil {
		return err
	}
	want := alone(n)
	all := make([]int64, binsEach*n)
	if err := errors.Join(w.LockAll(), w.Sync()); err != nil {
		return err
	}
	if mine := want[binsEach*me:][:binsEach]; !slices.Equal(w.Local(), mine) {
		return fmt.Errorf("the bins of rank %d are %v, want %v", me, w.Local(), mine)
	}
	for r := 0; r < n && me == 0; r++ {
		if err := w.Get(all[binsEach*r:][:binsEach], r, 0); err != nil {
			return err
		}
	}
	if err := w.UnlockAll(); err != nil {
		return err
	}
	if me == 0 {
		if !slices.Equal(all, want) {
			return fmt.Errorf("rank 0 got %v, want %v", all, want)
		}
		if _, err := fmt.Fprintf(out, "%d ranks counted %d numbers in %d bins: %v\n", n, n*draws, len(all), all); err != nil {
			return err
		}
	}
	return w.Free()
}
