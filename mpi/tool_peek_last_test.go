package mpi_test

import (
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/internal/peek"
	"github.com/weft-mpi/weft/mpi"
)

// A rank tells whoever has started its job all that it has done, as it leaves.
func TestARankLeavesItsLastCounters(t *testing.T) {
	const rounds, ranks = 50, 3
	heard := make(chan peek.Result, ranks)
	var l *peek.Listener
	var key atomic.Value
	runningAside(t, ranks, func(w *mpi.World, ready func(), over <-chan struct{}) error {
		key.Store(mpi.KeyOf(w))
		ready()
		<-over
		for range rounds {
			if err := mpi.Allreduce(w.Comm(), mpi.Sum, []int{1}, []int{0}); err != nil {
				return err
			}
		}
		return nil
	}, func() {
		for job := range socketsHere(t) {
			var err error
			if l, err = peek.Listen(key.Load().([32]byte), job, func(r peek.Result) { heard <- r }); err != nil {
				t.Fatal(err)
			}
		}
	})
	l.Close()
	close(heard)
	told := map[int]bool{}
	for r := range heard {
		var s mpi.Snapshot
		if err := r.Unmarshal(&s); err != nil {
			t.Fatal(err)
		}
		n := uint64(0)
		for _, f := range s.Families {
			for _, row := range f.Rows {
				if f.Name == "weft_coll_calls_total" && row.Values[0] == "Allreduce" {
					n += row.Value
				}
			}
		}
		if told[r.Rank] = true; n != rounds {
			t.Errorf("rank %d has made %d calls of Allreduce, not %d", r.Rank, n, rounds)
		}
	}
	if len(told) != ranks {
		t.Errorf("%d ranks have told", len(told))
	}
}
