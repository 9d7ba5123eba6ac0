package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// What MPI's synchronization orders is no data race: under the race detector, which
// sees memory of Go, loads and stores of the own part and operations of others take
// turns.
func TestEpochsOrderGoroutines(t *testing.T) {
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		next, before := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		mine := make([]int, 2)
		win := get(mpi.WinCreate(c, mine, mpi.WinOptions{}))
		all := c.Group()
		to, from := get(all.Incl(next)), get(all.Incl(before))
		for i := range 20 {
			mine[0] = -1
			ok(win.Post(from))
			ok(win.Start(to))
			ok(win.Put([]int{i}, next, 0))
			ok(win.Complete())
			if ok(win.Wait()); mine[0] != i {
				t.Errorf("Wait: %d, want %d", mine[0], i)
			}
			mine[0] = -2
			ok(win.Fence())
			ok(win.Put([]int{-i}, next, 0))
			if ok(win.Fence()); mine[0] != -i {
				t.Errorf("Fence: %d, want %d", mine[0], -i)
			}
			for _, target := range []int{c.Rank(), next} { // a counter each, of two ranks
				x := []int{0}
				ok(win.Lock(mpi.LockExclusive, target))
				if target == c.Rank() {
					mine[1]++
				} else {
					ok(win.Get(x, target, 1))
					ok(win.Flush(target))
					x[0]++
					ok(win.Put(x, target, 1))
				}
				ok(win.Unlock(target))
			}
		}
		if ok(c.Barrier()); mine[1] != 40 {
			t.Errorf("the counter is %d, want 40", mine[1])
		}
		ok(win.Free())
	})
}
