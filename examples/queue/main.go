// Command queue has ranks share out items of work that take different times, without a
// rank that hands them out. A counter at rank 0 says which items have been taken: a rank
// that needs work fetches it and adds a few (FetchAndOp). It claims each of these when it
// begins it, by its number in the item's slot (CompareAndSwap). Ranks that find nothing
// left to take claim what others have taken and not begun. Every item is done once, which
// is checked. With a launcher the ranks are processes, without one they are goroutines: as
// many as the argument says, or one for each core.
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
	if err := mpi.Run(ranks, func(w *mpi.World) error { return work(w.Comm(), os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

const (
	items = 200
	few   = 8 // items that a rank takes at once
)

// steps is the work of an item: how many steps it takes from the number to 1, halving
// even numbers and tripling odd ones and adding 1.
func steps(item int) (n int64) {
	for x := item + 1; x != 1; n++ {
		if x%2 == 0 {
			x /= 2
		} else {
			x = 3*x + 1
		}
	}
	return n
}

// queue is one rank's side of the queue.
type queue struct {
	me, n int
	taken mpi.Window[int64] // one element at rank 0: how many items are taken
	slots mpi.Window[int32] // of item i, at rank i % n: 0, or 1 + the rank that has it
	done  []int32           // how often this rank has done each item
	sum   int64             // of the steps of those
}

// try does an item unless another rank has claimed it.
func (q *queue) try(item int) error {
	old, err := q.slots.CompareAndSwapNow(0, int32(1+q.me), item%q.n, item/q.n)
	if err != nil || old != 0 {
		return err
	}
	q.done[item]++
	q.sum += steps(item)
	return nil
}

// run does items until none is left.
func (q *queue) run() error {
	for {
		first, err := q.taken.FetchAndOpNow(mpi.Sum, few, 0, 0)
		if err != nil {
			return err
		}
		if first >= items {
			break
		}
		for i := int(first); i < min(int(first)+few, items); i++ {
			if err := q.try(i); err != nil {
				return err
			}
		}
	}
	// The last ones first: whoever has taken items begins with the first.
	for i := items - 1; i >= 0; i-- {
		if err := q.try(i); err != nil {
			return err
		}
	}
	return nil
}

// work runs one rank. Rank 0 prints the result to out.
func work(c *mpi.Comm, out io.Writer) (err error) {
	q := &queue{me: c.Rank(), n: c.Size(), done: make([]int32, items)}
	counters := 0
	if q.me == 0 {
		counters = 1
	}
	if q.taken, err = mpi.WinAllocate[int64](c, counters, mpi.WinOptions{}); err != nil {
		return err
	}
	if q.slots, err = mpi.WinAllocate[int32](c, (items+q.n-1)/q.n, mpi.WinOptions{}); err != nil {
		return err
	}
	if err := errors.Join(q.taken.LockAll(), q.slots.LockAll()); err != nil {
		return err
	}
	if err := q.run(); err != nil {
		return err
	}
	if err := errors.Join(q.taken.UnlockAll(), q.slots.UnlockAll()); err != nil {
		return err
	}

	total := []int64{q.sum}
	if err := mpi.Allreduce(c, mpi.Sum, mpi.InPlace[int32](), q.done); err != nil {
		return err
	}
	if err := mpi.Allreduce(c, mpi.Sum, mpi.InPlace[int64](), total); err != nil {
		return err
	}
	want := int64(0)
	for i, times := range q.done {
		if times != 1 {
			return fmt.Errorf("item %d was done %d times", i, times)
		}
		want += steps(i)
	}
	if total[0] != want {
		return fmt.Errorf("%d steps, want %d", total[0], want)
	}
	if q.me == 0 {
		if _, err := fmt.Fprintf(out, "%d ranks did %d items once each, in %d steps\n", q.n, items, want); err != nil {
			return err
		}
	}
	return errors.Join(q.taken.Free(), q.slots.Free())
}
