package mpi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// windows calls f with a window of each kind that has memory, of n elements at each rank.
func windows(c *mpi.Comm, n int, f func(kind string, w mpi.Window[int64])) {
	for _, k := range []struct {
		kind string
		make func() (mpi.Window[int64], error)
	}{
		{"create", func() (mpi.Window[int64], error) { return mpi.WinCreate(c, make([]int64, n), mpi.WinOptions{}) }},
		{"allocate", func() (mpi.Window[int64], error) { return mpi.WinAllocate[int64](c, n, mpi.WinOptions{}) }},
		{"separate", func() (mpi.Window[int64], error) {
			return mpi.WinAllocate[int64](c, n, mpi.WinOptions{Model: mpi.WinSeparate})
		}},
	} {
		w := get(k.make())
		f(k.kind, w)
		ok(w.Free())
	}
}

// What ranks put and accumulate between two fences is there behind the second one.
func TestAFenceEndsTheOperationsOfAll(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{1, 2, 4} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, n, func(_ *mpi.World, c *mpi.Comm) {
					me := c.Rank()
					windows(c, n+2, func(kind string, w mpi.Window[int64]) {
						for round := range int64(20) {
							ok(w.Fence())
							for r := range n {
								ok(w.Put([]int64{100*round + int64(10*me+r)}, r, me))
								ok(w.Accumulate(mpi.Sum, []int64{1, int64(me)}, r, n))
							}
							ok(w.Fence(mpi.NoSucceed))
							for r := range n {
								if got, want := w.Local()[r], 100*round+int64(10*r+me); got != want {
									stop(fmt.Errorf("%s: %d from rank %d, want %d", kind, got, r, want))
								}
							}
							if got, want := w.Local()[n], (round+1)*int64(n); got != want {
								stop(fmt.Errorf("%s: the sum of ones is %d, want %d", kind, got, want))
							}
							ok(w.Fence(mpi.NoPrecede))
							all := make([]int64, n+2)
							right := (me + 1) % n
							ok(w.Get(all, right, 0))
							ok(w.Fence())
							for r := range n {
								if all[r] != 100*round+int64(10*r+right) {
									stop(fmt.Errorf("%s: Get has %v", kind, all))
								}
							}
						}
						ok(w.Fence(mpi.NoSucceed))
					})
				})
			})
		}
	})
}

// Under LockAll each fetch gets a number of its own, and a lock by CompareAndSwap
// excludes the others.
func TestFetchAndOpGivesEachANumber(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{2, 3} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				const rounds = 100
				act(t, fabric, n, func(_ *mpi.World, c *mpi.Comm) {
					windows(c, 4, func(kind string, w mpi.Window[int64]) {
						ok(w.LockAll())
						var mine []int64
						for range rounds {
							mine = append(mine, get(w.FetchAndOpNow(mpi.Sum, 1, 0, 1)))
							for get(w.CompareAndSwapNow(0, 1, 0, 2)) != 0 {
							}
							var v [1]int64
							ok(w.Get(v[:], 0, 3))
							ok(w.Flush(0))
							v[0]++
							ok(w.Put(v[:], 0, 3))
							ok(w.Flush(0))
							if old := get(w.FetchAndOpNow(mpi.Replace, 0, 0, 2)); old != 1 {
								stop(fmt.Errorf("%s: the lock was %d", kind, old))
							}
						}
						ok(c.Barrier())
						if got := get(w.FetchAndOpNow(mpi.NoOp, 0, 0, 3)); got != int64(n*rounds) {
							stop(fmt.Errorf("%s: counted %d under the lock, want %d", kind, got, n*rounds))
						}
						ok(w.UnlockAll())
						all := make([]int64, n*rounds)
						ok(mpi.Allgather(c, mine, all))
						slices.Sort(all)
						for i, v := range all {
							if v != int64(i) {
								stop(fmt.Errorf("%s: the numbers are %v", kind, all))
							}
						}
					})
				})
			})
		}
	})
}

// Ranks store and load each other's parts of a shared window.
func TestRanksShareAWindow(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(_ *mpi.World, c *mpi.Comm) {
			me := c.Rank()
			for _, apart := range []bool{false, true} {
				w, err := mpi.WinAllocateShared[int32](c, me, mpi.WinOptions{Noncontiguous: apart})
				if fabric == "tcp" || fabric == "verbs" {
					wantClass(err, mpi.ErrRMAShared)
					continue
				}
				ok(err)
				ok(w.LockAll())
				for i := range w.Local() {
					w.Local()[i] = int32(10*me + i)
				}
				ok(w.Sync())
				ok(c.Barrier())
				ok(w.Sync())
				for r := range 3 {
					part := get(w.Shared(r))
					if len(part) != r {
						stop(fmt.Errorf("rank %d has %d elements", r, len(part)))
					}
					for i, v := range part {
						if v != int32(10*r+i) {
							stop(fmt.Errorf("rank %d has %v", r, part))
						}
					}
				}
				if first := get(w.Shared(mpi.ProcNull)); len(first) != 1 {
					stop(fmt.Errorf("the first part that is not empty has %d elements", len(first)))
				}
				ok(w.UnlockAll())
				ok(w.Free())
			}
		})
	})
}

// Memory is attached and detached, and what is not attached is refused at the target.
func TestMemoryIsAttachedToADynamicWindow(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			me, other := c.Rank(), 1-c.Rank()
			w := get(mpi.WinCreateDynamic(c, mpi.WinOptions{}))
			for round := range 5 {
				mine := make([]float64, 10)
				at := []int{get(mpi.Attach(w, mine))}
				there := []int{0}
				get(mpi.Sendrecv(c, at, other, 0, there, other, 0))
				ok(w.Lock(mpi.LockShared, other))
				ok(mpi.Accumulate(w, mpi.Sum, []float64{1.5}, other, there[0]+8*me))
				got := []float64{0}
				ok(mpi.GetAccumulate(w, mpi.Sum, []float64{2}, got, other, there[0]+8*me))
				ok(w.Unlock(other))
				if got[0] != 1.5 {
					stop(fmt.Errorf("round %d: the element was %v", round, got[0]))
				}
				ok(c.Barrier())
				if mine[other] != 3.5 {
					stop(fmt.Errorf("round %d: %v", round, mine))
				}
				ok(mpi.Detach(w, mine))
				ok(c.Barrier())
				ok(w.Lock(mpi.LockExclusive, other))
				ok(mpi.Put(w, []float64{1}, other, there[0]))
				wantClass(w.Flush(other), mpi.ErrRMARange)
				ok(w.Unlock(other))
				ok(c.Barrier())
			}
			ok(w.Free())
		})
	})
}

// wantClass stops unless err is of a class.
func wantClass(err error, class mpi.Class) {
	if mpi.ErrorClass(err) != class {
		stop(fmt.Errorf("%v, want class %v", err, class))
	}
}
