package capi

import (
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// Handles of requests are taken and given back by many at once: each is its holder's only,
// and stale behind its end.
func TestRequestHandlesWhile8GoroutinesTakeThem(t *testing.T) {
	var table requestTable
	err := mpi.Run(1, func(w *mpi.World) error {
		r, err := mpi.RecvInit(w.Comm(), []byte{0}, 0, 0)
		if err != nil {
			return err
		}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				var mine []uint64
				for i := range 20000 {
					word, err := table.add(r)
					if err != nil {
						t.Error(err)
						return
					}
					if mine = append(mine, word); i%3 != 0 {
						continue
					}
					last := mine[len(mine)-1]
					mine = mine[:len(mine)-1]
					if got, ok := table.get(last); !ok || got != r || table.whole(uint32(last)) != last {
						t.Errorf("handle %#x is %v, %v", last, got, ok)
					}
					table.drop(last)
					table.drop(last)
					if _, ok := table.get(last); ok {
						t.Errorf("handle %#x is not stale", last)
					}
				}
				for _, word := range mine {
					if _, ok := table.get(word); !ok {
						t.Errorf("handle %#x is stale", word)
					}
					table.drop(word)
				}
			})
		}
		group.Wait()
		return r.Free()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []uint64{0, 1, commWorld, 1<<40 | requestNull, 12<<27 | 5, uint64(kindRequest)<<27 | 1<<26, ^uint64(0)} {
		if _, ok := table.get(word); ok {
			t.Errorf("%#x is a request", word)
		}
	}
}

// The error of a receive that is started late is that of its request.
func TestARefusedReceiveFailsWhenItIsWaitedFor(t *testing.T) {
	err := mpi.Run(1, func(w *mpi.World) error {
		world = w
		defer func() { world = nil }()
		r := refused(fail(mpi.ErrComm, "it is over"))
		_, err := r.Wait()
		if mpi.ErrorClass(err) != mpi.ErrComm || !r.Null() {
			t.Errorf("Wait: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
