package mpi_test

import (
	"runtime"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi"
)

// 10,000 windows of 8 bytes take less than 26 MB of heap at each rank. Fewer tell, too.
func TestManyWindowsTakeLittleMemory(t *testing.T) {
	tier.Long(t, "it measures, and a busy machine disturbs that")
	const n, most = 2000, 26 << 20 / 10_000
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	act(t, "shm", 2, func(_ *mpi.World, c *mpi.Comm) {
		all := make([]mpi.Window[int64], 0, n)
		ok(c.Barrier())
		before := heap()
		for range n {
			all = append(all, get(mpi.WinAllocate[int64](c, 1, mpi.WinOptions{})))
		}
		ok(c.Barrier())
		if each := (heap() - before) / 2 / n; each > most {
			t.Errorf("a window takes %d bytes of the heap at each rank", each)
		} else {
			t.Logf("a window takes %d bytes of the heap at each rank", each)
		}
		ok(c.Barrier())
		last := all[n-1]
		ok(last.Fence())
		ok(last.Put([]int64{int64(c.Rank() + 1)}, 1-c.Rank(), 0))
		ok(last.Fence(mpi.NoSucceed))
		if got := last.Local()[0]; got != int64(2-c.Rank()) {
			t.Errorf("the last one has %d", got)
		}
		for _, w := range all {
			ok(w.Free())
		}
	})
}
