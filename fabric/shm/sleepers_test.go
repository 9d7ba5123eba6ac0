package shm

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// Ranks that read each other's memory with several transfers at a time, or only
// help, and sleep whenever Poll says that there is nothing to do: whoever owes
// them something rings, or the test never ends.
func TestRanksThatReadEachOtherAndSleepAreWoken(t *testing.T) {
	const ranks, memory, flying = 4, 1 << 20, 2 * lead
	gets := 300
	if testing.Short() {
		gets = 100
	}
	ds := openJob(t, ranks)
	src := make([][]byte, ranks)
	reg := make([]fabric.Region, ranks)
	for i, d := range ds {
		src[i] = make([]byte, memory)
		for k := range src[i] {
			src[i][k] = byte(k>>12*7 + k + i)
		}
		var err error
		if reg[i], err = d.Register(src[i], fabric.RemoteRead); err != nil {
			t.Fatal(err)
		}
	}
	var finished atomic.Int32
	var all sync.WaitGroup
	for i, d := range ds {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			n := newNode(t, d)
			eps := make([]fabric.Endpoint, ranks)
			for p := range ranks {
				if p != i {
					var err error
					if eps[p], err = d.Connect(fabric.Peer(p), ds[p].Addr()); err != nil {
						t.Error(err)
						return
					}
				}
			}
			type flight struct {
				dst  []byte
				peer int
				off  int
			}
			flights := map[fabric.Op]flight{}
			next, told := fabric.Op(1), false
			gets := gets * (1 - i%2) // odd ranks have nothing to do but to help
			for finished.Load() < ranks {
				for len(flights) < flying && int(next) <= gets {
					p := (i + 1 + rng.IntN(ranks-1)) % ranks
					size := 1 + rng.IntN(memory>>rng.IntN(8))
					f := flight{make([]byte, size), p, rng.IntN(memory - size + 1)}
					at := reg[p].Remote
					at.Addr, at.Len = at.Addr+uint64(f.off), uint64(size)
					err := eps[p].Get(fabric.Segment{Bytes: f.dst}, at, next)
					if err == fabric.ErrAgain {
						break
					}
					if err == fabric.ErrUnsupported {
						next = fabric.Op(gets + 1) // CMA is refused
						break
					}
					if err != nil {
						t.Errorf("rank %d: Get: %v", i, err)
					}
					flights[next] = f
					next++
				}
				if d.Poll(n, 1+rng.IntN(64)) == 0 {
					if int(next) > gets && len(flights) == 0 && !told {
						told = true
						finished.Add(1)
						for _, d := range ds {
							d.Wake()
						}
					}
					if err := d.Arm(fabric.WakeAll); err != nil {
						t.Error(err)
					}
					if d.Poll(n, 64) == 0 && finished.Load() < ranks {
						d.Wait(0)
					}
					d.Disarm()
				}
				for op, err := range n.done {
					f := flights[op]
					if err != nil || !bytes.Equal(f.dst, src[f.peer][f.off:f.off+len(f.dst)]) {
						t.Errorf("rank %d: %d bytes of rank %d: %v, or they differ", i, len(f.dst), f.peer, err)
					}
					delete(flights, op)
					delete(n.done, op)
				}
			}
		})
	}
	all.Wait()
}
