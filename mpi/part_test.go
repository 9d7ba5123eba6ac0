package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// Partitions of every number on both sides, made ready in every order by several
// goroutines, over rounds: the receiver gets each partition's bytes of the round.
func TestPartitionsArriveWithTheirBytes(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const rounds = 4
		for _, c := range []struct{ bytes, sends, recvs int }{
			{0, 3, 2}, {1, 1, 1}, {90, 18, 5}, {4096, 64, 1}, {65536, 1024, 16}, {1 << 20, 16, 16}, {1 << 20, 1, 64}, {3 * 5 * 40000, 3, 5},
		} {
			act(t, fabric, 2, func(w *mpi.World, c2 *mpi.Comm) {
				b := make([]byte, c.bytes)
				if c2.Rank() == 0 {
					r := beginParts(mpi.PsendInit(c2, b, c.sends, 1, 7))
					p := mpi.Partitions(*r)
					for i := range rounds {
						ok(mpi.Start(r))
						var all sync.WaitGroup
						part := c.bytes / c.sends
						for g := range min(c.sends, 4) {
							all.Go(func() {
								for k := c.sends - 1 - g; k >= 0; k -= 4 {
									for at := k * part; at < (k+1)*part; at++ {
										b[at] = byte(at*7 + at>>8 + i)
									}
									if err := p.Ready(k); err != nil {
										t.Errorf("Ready(%d) of round %d: %v", k, i, err)
									}
								}
							})
						}
						all.Wait()
						get(mpi.Wait(r))
					}
					ok(mpi.RequestFree(r))
					return
				}
				r := beginParts(mpi.PrecvInit(c2, b, c.recvs, 0, 7))
				p := mpi.Partitions(*r)
				part := c.bytes / c.recvs
				right := func(k, i int) bool {
					for at := k * part; at < (k+1)*part; at++ {
						if b[at] != byte(at*7+at>>8+i) {
							return false
						}
					}
					return true
				}
				for i := range rounds {
					clear(b)
					ok(mpi.Start(r))
					seen := 0
					for k := range p.Arriving() {
						if seen++; !right(k, i) {
							t.Errorf("%v: partition %d of round %d has other bytes", c, k, i)
						}
					}
					if st := get(mpi.Wait(r)); seen != c.recvs || st.Source != 0 || st.Tag != 7 || st.Bytes != uint64(c.bytes) {
						t.Errorf("%v: %d partitions in round %d, status %+v", c, seen, i, st)
					}
				}
				ok(mpi.RequestFree(r))
			}, opts...)
		}
	})
}

func TestPartitionsToOneself(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			out, in := make([]byte, 1000), make([]byte, 1000)
			s := beginParts(mpi.PsendInit(c, out, 10, 0, 1))
			r := beginParts(mpi.PrecvInit(c, in, 4, 0, 1))
			for i := range 3 {
				fill(out, i)
				ok(mpi.Startall([]mpi.Request{*s, *r}))
				ok(mpi.PreadyRange(0, 4, *s))
				if there := get(mpi.Parrived(*r, 1)); !there {
					t.Error("half of the send is ready, and the second quarter of the receive has not arrived")
				}
				if there := get(mpi.Parrived(*r, 2)); there {
					t.Error("the third quarter has arrived early")
				}
				ok(mpi.PreadyList([]int{9, 5, 7, 6, 8}, *s))
				get(mpi.Wait(s))
				get(mpi.Wait(r))
				if differs(in, i) >= 0 {
					t.Errorf("round %d: other bytes", i)
				}
			}
			ok(mpi.RequestFree(s))
			ok(mpi.RequestFree(r))
		})
	})
}

func TestPartitionsAreRefused(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		b := make([]byte, 12)
		is := func(err error, class mpi.Class, what string) {
			t.Helper()
			if !errors.Is(err, class) {
				t.Errorf("%s: %v, want class %v", what, err, class)
			}
		}
		_, err := mpi.PsendInit(c, b, 0, 0, 0)
		is(err, mpi.ErrArg, "no partitions")
		_, err = mpi.PrecvInit(c, b, 5, 0, 0)
		is(err, mpi.ErrCount, "5 partitions of 12 bytes")
		_, err = mpi.PrecvInit(c, b, 4, mpi.AnySource, 0)
		is(err, mpi.ErrRank, "any source")
		_, err = mpi.PrecvInit(c, b, 4, 0, mpi.AnyTag)
		is(err, mpi.ErrTag, "any tag")
		s, r := beginParts(mpi.PsendInit(c, b, 3, 0, 0)), beginParts(mpi.PrecvInit(c, b, 3, 0, 0))
		is(mpi.Pready(0, *s), mpi.ErrRequest, "before Start")
		is(mpi.Pready(0, *r), mpi.ErrRequest, "Pready on a receive")
		_, err = mpi.Parrived(*s, 0)
		is(err, mpi.ErrRequest, "Parrived on a send")
		is(mpi.Pready(0, mpi.Request{}), mpi.ErrRequest, "the null request")
		if there := get(mpi.Parrived(*r, 0)); !there {
			t.Error("a receive that is not started has not arrived")
		}
		ok(mpi.Start(s))
		ok(mpi.Start(r))
		if ended, _, err := mpi.Test(s); ended || err != nil {
			t.Errorf("Test of a send without ready partitions: %t, %v", ended, err)
		}
		ok(mpi.Pready(1, *s))
		is(mpi.Pready(1, *s), mpi.ErrArg, "twice")
		is(mpi.PreadyRange(0, 2, *s), mpi.ErrArg, "a range with one twice")
		is(mpi.Pready(3, *s), mpi.ErrArg, "out of range")
		is(mpi.PreadyRange(2, 0, *s), mpi.ErrArg, "an empty range")
		ok(mpi.PreadyList([]int{0, 2}, *s))
		get(mpi.Wait(s))
		get(mpi.Wait(r))
		is(mpi.Pready(0, *s), mpi.ErrArg, "after the round")
		ok(mpi.RequestFree(s))
		ok(mpi.RequestFree(r))
		if mpi.Partitions(*s) != nil {
			t.Error("a freed request has partitions")
		}
	})
}

// Sides of different sizes fail both, with both numbers.
func TestPartitionedSizesThatDifferAreToldToBoth(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			var r *mpi.Request
			if c.Rank() == 0 {
				r = beginParts(mpi.PsendInit(c, make([]byte, 100), 10, 1, 3))
			} else {
				r = beginParts(mpi.PrecvInit(c, make([]byte, 60), 4, 0, 3))
			}
			for range 2 {
				ok(mpi.Start(r))
				_, err := mpi.Wait(r)
				var size *mpi.SizeError
				if !errors.Is(err, mpi.ErrTruncate) || !errors.As(err, &size) || *size != (mpi.SizeError{Sent: 100, Received: 60, SendParts: 10, ReceiveParts: 4}) {
					t.Errorf("rank %d: %v", c.Rank(), err)
				}
			}
			ok(mpi.RequestFree(r))
		})
	})
}

// A side that is given up before it has matched leaves its place in the order.
func TestAFreedSideKeepsItsPlaceInTheOrderOfMatching(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for freed := range 2 {
			t.Run(fmt.Sprint("by ", freed), func(t *testing.T) {
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					var rs []*mpi.Request
					b := [2][]byte{make([]byte, 8), make([]byte, 8)}
					for i := range b {
						if c.Rank() == 0 {
							fill(b[i], i)
							rs = append(rs, beginParts(mpi.PsendInit(c, b[i], 2, 1, 0)))
						} else {
							rs = append(rs, beginParts(mpi.PrecvInit(c, b[i], 2, 0, 0)))
						}
						if i == 0 && c.Rank() == freed {
							ok(mpi.RequestFree(rs[0]))
						}
					}
					ok(mpi.Start(rs[1]))
					if c.Rank() == 0 {
						ok(mpi.PreadyRange(0, 1, *rs[1]))
					}
					get(mpi.Wait(rs[1]))
					if differs(b[1], 1) >= 0 {
						t.Error("the second receive has other bytes")
					}
					if c.Rank() != freed {
						ok(mpi.Start(rs[0]))
						if _, err := mpi.Wait(rs[0]); err == nil {
							t.Error("a round without another side has completed")
						}
						ok(mpi.RequestFree(rs[0]))
					}
					ok(mpi.RequestFree(rs[1]))
				})
			})
		}
	})
}

func TestPartitionsOfNoProcess(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		s, r := beginParts(mpi.PsendInit(c, make([]byte, 8), 4, mpi.ProcNull, 0)), beginParts(mpi.PrecvInit(c, make([]byte, 8), 4, mpi.ProcNull, 0))
		for range 2 {
			ok(mpi.Start(s))
			ok(mpi.Start(r))
			ok(mpi.PreadyRange(0, 3, *s))
			get(mpi.Wait(s))
			if st := get(mpi.Wait(r)); st.Source != mpi.ProcNull || st.Bytes != 0 {
				t.Errorf("a receive from no process: %+v", st)
			}
		}
		ok(mpi.RequestFree(s))
		ok(mpi.RequestFree(r))
	})
}

// A report says which partitions a round waits for.
func TestAReportSaysWhichPartitionsAreMissing(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			s, r := beginParts(mpi.PsendInit(c, make([]byte, 400), 100, 0, 9)), beginParts(mpi.PrecvInit(c, make([]byte, 400), 5, 0, 9))
			alone := beginParts(mpi.PrecvInit(c, make([]byte, 8), 2, 0, 10))
			all := []mpi.Request{*s, *r, *alone}
			ok(mpi.Startall(all))
			ok(mpi.PreadyRange(0, 69, *s))
			var out bytes.Buffer
			ok(w.Report(&out))
			for _, want := range []string{
				"a partitioned send to rank 0, tag 9, MPI_COMM_WORLD, 400 bytes in 100 partitions: 30 partitions are not ready, the first is 70,",
				"a partitioned receive from rank 0, tag 9, MPI_COMM_WORLD, 400 bytes in 5 partitions: 2 partitions have not arrived, the first is 3,",
				"a partitioned receive from rank 0, tag 10, MPI_COMM_WORLD, 8 bytes in 2 partitions: waits for a PsendInit that matches it,",
			} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, out.String())
				}
			}
			ok(mpi.PreadyRange(70, 99, *s))
			late := beginParts(mpi.PsendInit(c, make([]byte, 8), 2, 0, 10))
			ok(mpi.Start(late))
			ok(mpi.PreadyRange(0, 1, *late))
			all = append(all, *late)
			ok(mpi.Waitall(all, nil))
			for i := range all {
				ok(mpi.RequestFree(&all[i]))
			}
		})
	})
}
