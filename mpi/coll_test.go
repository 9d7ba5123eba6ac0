package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// ranks runs a test with 1 to 8 ranks, each in a subtest.
func ranks(t *testing.T, f func(t *testing.T, fabric string, n int)) {
	onEach(t, func(t *testing.T, fabric string) {
		for n := 1; n <= 8; n++ {
			if testing.Short() && team == nil && n%3 != 1 { // 1, 4, 7
				continue
			}
			t.Run(fmt.Sprint(n), func(t *testing.T) { f(t, fabric, n) })
		}
	})
}

// count are numbers of elements: few, some for each rank, and more than a packet has.
func count(p int) []int { return slices.Compact([]int{0, 1, max(p-1, 1), p, p + 1, 1500}) }

func TestEveryCollectiveGivesWhatTheModelGives(t *testing.T) {
	ranks(t, func(t *testing.T, fabric string, p int) {
		act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
			for _, n := range count(p) {
				for _, f := range forms {
					x := trial[word]{c: c, form: f, n: n, element: letter, op: (*mpi.Op)(mpi.NewOp(join)), fold: join}
					x.moves()
					x.reductions()
				}
			}
		})
	})
}

type celsius float32

func TestElementsOfEveryKind(t *testing.T) {
	ranks(t, func(t *testing.T, fabric string, p int) {
		act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
			for _, f := range forms {
				kind(c, f, mpi.LXor, func(r, i int) bool { return (r+i)%3 == 0 }, func(a, b bool) bool { return a != b })
				kind(c, f, mpi.Max, func(r, i int) int8 { return int8(r*r*17 + i) }, func(a, b int8) int8 { return max(a, b) })
				kind(c, f, mpi.BXor, func(r, i int) uint16 { return uint16(r*7919 + i) }, func(a, b uint16) uint16 { return a ^ b })
				kind(c, f, mpi.Sum, func(r, i int) int { return r*1e12 - i }, func(a, b int) int { return a + b })
				kind(c, f, mpi.Min, func(r, i int) celsius { return celsius(i) - celsius(r)/4 }, func(a, b celsius) celsius { return min(a, b) })
				kind(c, f, mpi.Sum, func(r, i int) complex128 { return complex(float64(r), float64(i)) }, func(a, b complex128) complex128 { return a + b })
				kind(c, f, (*mpi.Op)(mpi.NewVectorOp(joinAll)), letter, join)
				kind(c, f, (*mpi.Op)(mpi.NewOp(func(a, b uint8) uint8 { return a + b }, mpi.Commutes())), func(r, i int) uint8 { return uint8(r + i) }, func(a, b uint8) uint8 { return a + b })
			}
		})
	})
}

// kind makes a few of the calls with elements of one kind.
func kind[T mpi.Scalar](c *mpi.Comm, f form, op *mpi.Op, element func(rank, i int) T, fold func(a, b T) T) {
	x := trial[T]{c: c, form: f, n: 5, element: element, op: op, fold: fold}
	x.moves()
	x.reductions()
}

// The order of calls on a communicator is that of their starts, and two communicators
// have nothing to do with one another.
func TestNonblockingCallsAmongBlockingOnesOnTwoCommunicators(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for p := 1; p <= 8; p++ {
			t.Run(fmt.Sprint(p), func(t *testing.T) {
				act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
					d, me := get(c.Dup()), c.Rank()
					var rs []mpi.Request
					var got, want [][]word
					x := trial[word]{element: letter, fold: join}
					op := (*mpi.Op)(mpi.NewOp(join))
					for i, n := range []int{3, 0, 1, 700, 9000, 2} {
						for _, comm := range []*mpi.Comm{c, d} {
							sum, all, tail := make([]word, n), make([]word, p*n), []word(nil)
							if me > 0 {
								tail = make([]word, n)
							}
							rs = append(rs, get(mpi.Iallreduce(comm, op, x.vector(me, i, n), sum)),
								get(comm.Ibarrier()), get(mpi.Iallgather(comm, x.vector(me, i, n), all)))
							got, want = append(got, sum), append(want, x.folded(p-1, i, n))
							x.c = comm
							for r := range p {
								want = append(want, x.vector(r, i, n))
								got = append(got, all[r*n:(r+1)*n])
							}
							other := map[*mpi.Comm]*mpi.Comm{c: d, d: c}[comm]
							b := x.vector(me, i, n)
							ok(mpi.Bcast(other, b, i%p))
							got, want = append(got, b), append(want, x.vector(i%p, i, n))
							rs = append(rs, get(mpi.Iexscan(other, op, x.vector(me, i, n), tail)))
							if me > 0 {
								got, want = append(got, tail), append(want, x.folded(me-1, i, n))
							}
						}
					}
					ok(c.Barrier())
					slices.Reverse(rs[:len(rs)/(1+me)]) // each rank waits in an order of its own
					ok(mpi.Waitall(rs, nil))
					for i := range got {
						if !slices.Equal(got[i], want[i]) {
							stop(fmt.Errorf("result %d is %v, want %v", i, got[i], want[i]))
						}
					}
				}, opts...)
			})
		}
	})
}

// Nobody's Ibarrier completes before all have begun theirs.
func TestAnIbarrierCompletesWhenAllHaveCalledIt(t *testing.T) {
	ranks(t, func(t *testing.T, fabric string, p int) {
		come := newSignal()
		act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
			if c.Rank() == p-1 {
				for range p - 1 {
					come.take()
				}
				get(mpi.Wait(begin(c.Ibarrier())))
				return
			}
			r := begin(c.Ibarrier())
			for range 10 {
				if ended, _, err := mpi.Test(r); ended || err != nil {
					stop(fmt.Errorf("Test = %t, %v before all have begun", ended, err))
				}
			}
			come.give()
			get(mpi.Wait(r))
		})
	})
}

func TestACollectiveRequestIsNeitherCancelledNorGivenUp(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		begun := newSignal()
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			if c.Rank() == 1 {
				begun.take()
			}
			sum := []int{0}
			r := begin(mpi.Iallreduce(c, mpi.Sum, []int{c.Rank() + 1}, sum))
			if c.Rank() == 0 {
				want(t, "Cancel", mpi.Cancel(r), mpi.ErrRequest)
				want(t, "RequestFree", mpi.RequestFree(r), mpi.ErrRequest)
				begun.give()
			}
			if st := get(mpi.Wait(r)); sum[0] != 3 || st.Cancelled {
				t.Errorf("the sum is %d, the status %+v", sum[0], st)
			}
		})
	})
}

// A panic of a program's operator is an error at all ranks.
func TestAnOperatorThatPanicsFailsTheCallAtAllRanks(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for p := 2; p <= 5; p++ {
			t.Run(fmt.Sprint(p), func(t *testing.T) {
				for _, nonblocking := range []bool{false, true} {
					act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
						d := get(c.Dup())
						op := (*mpi.Op)(mpi.NewOp(func(a, b int) int {
							if a+b >= 1<<(p-1) {
								panic("no more")
							}
							return a + b
						}))
						in, out := []int{1 << c.Rank()}, []int{0}
						x := trial[int]{form: form{nonblocking: nonblocking}}
						err := attempt(func() {
							if x.nonblocking {
								x.end(mpi.Iallreduce(d, op, in, out))
							} else {
								ok(mpi.Allreduce(d, op, in, out))
							}
						})
						if err == nil {
							err = errors.Join(mpi.Allreduce(d, mpi.Sum, in, out)) // by now this rank is told
						}
						if err == nil {
							stop(fmt.Errorf("no error"))
						}
						var broken *mpi.BrokenError
						if err := mpi.Bcast(d, in, 0); !errors.As(err, &broken) {
							stop(fmt.Errorf("the next call: %v", err))
						}
						ok(c.Barrier())
					})
				}
			})
		}
	})
}

func TestCountsThatDifferAreAnErrorAtAllRanks(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for p := 2; p <= 5; p++ {
			t.Run(fmt.Sprint(p), func(t *testing.T) {
				act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
					d := get(c.Dup())
					n := 4
					if c.Rank() == 1 {
						n = 3
					}
					err := mpi.Allreduce(d, mpi.Sum, make([]int, n), make([]int, n))
					if err == nil { // the others learn of it later
						err = mpi.Allreduce(d, mpi.Sum, make([]int, 4), make([]int, 4))
					}
					if !errors.Is(err, mpi.ErrCount) && !errors.Is(err, mpi.ErrTruncate) {
						t.Errorf("rank %d: %v", c.Rank(), err)
					}
					ok(c.Barrier())
				})
			})
		}
	})
}

// Short collectives that a program makes again and again use no new memory. The
// allocations of both ranks count.
func TestShortCollectivesAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	rounds := allocRounds()
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			c = w.Comm() // without a context, which a wait for several messages would list
			in, out, all := make([]int64, 4), make([]int64, 4), make([]int64, 8)
			for name, call := range ordered(map[string]func() error{
				"Allreduce":          func() error { return mpi.Allreduce(c, mpi.Sum, in, out) },
				"Reduce":             func() error { return mpi.Reduce(c, mpi.Sum, in, out, 0) },
				"Bcast":              func() error { return mpi.Bcast(c, in, 1) },
				"Gather":             func() error { return mpi.Gather(c, in, all, 0) },
				"Scatter":            func() error { return mpi.Scatter(c, all, out, 0) },
				"Allgather":          func() error { return mpi.Allgather(c, in, all) },
				"Alltoall":           func() error { return mpi.Alltoall(c, in, out) },
				"Scan":               func() error { return mpi.Scan(c, mpi.Max, in, out) },
				"Exscan":             func() error { return mpi.Exscan(c, mpi.Sum, in, out) },
				"ReduceScatterBlock": func() error { return mpi.ReduceScatterBlock(c, mpi.Sum, all, out) },
			}) {
				// An Allgather behind each call, so that neither rank is ahead: what comes
				// unexpected is kept.
				do := func() error { return errors.Join(call(), mpi.Allgather(c, in[:1], all[:2])) }
				if err := steady(t, c, name, rounds, do); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
