package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// exchanging are the calls that send and receive at once; in takes the message,
// and with those that replace was the message sent.
var exchanging = []struct {
	name string
	do   func(c *mpi.Comm, out, in []byte, dest, source int) (mpi.Status, error)
}{
	{"Sendrecv", func(c *mpi.Comm, out, in []byte, dest, source int) (mpi.Status, error) {
		return mpi.Sendrecv(c, out, dest, 1, in, source, 1)
	}},
	{"Isendrecv", func(c *mpi.Comm, out, in []byte, dest, source int) (mpi.Status, error) {
		return mpi.Wait(begin(mpi.Isendrecv(c, out, dest, 1, in, source, 1)))
	}},
	{"SendrecvReplace", func(c *mpi.Comm, out, in []byte, dest, source int) (mpi.Status, error) {
		copy(in, out)
		return mpi.SendrecvReplace(c, in, dest, 1, source, 1)
	}},
	{"IsendrecvReplace", func(c *mpi.Comm, out, in []byte, dest, source int) (mpi.Status, error) {
		copy(in, out)
		return mpi.Wait(begin(mpi.IsendrecvReplace(c, in, dest, 1, source, 1)))
	}},
}

func TestARingExchangesInEveryWay(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for ranks := 1; ranks <= 5; ranks++ {
			t.Run(fmt.Sprint(ranks), func(t *testing.T) {
				act(t, fabric, ranks, func(w *mpi.World, c *mpi.Comm) {
					right, left := (c.Rank()+1)%ranks, (c.Rank()+ranks-1)%ranks
					for _, way := range exchanging {
						for _, n := range sizes {
							in := make([]byte, n)
							st := get(way.do(c, pattern(n, c.Rank()), in, right, left))
							if i := differs(in, left); i >= 0 || st != (mpi.Status{Source: left, Tag: 1, Bytes: uint64(n)}) {
								stop(fmt.Errorf("%s of %d bytes: byte %d differs, %+v", way.name, n, i, st))
							}
						}
					}
				}, opts...)
			})
		}
	})
}

// A line: its ends have nobody on one side.
func TestALineExchangesWithNobodyAtItsEnds(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		const ranks = 3
		act(t, fabric, ranks, func(w *mpi.World, c *mpi.Comm) {
			right, left := c.Rank()+1, c.Rank()-1
			if right == ranks {
				right = mpi.ProcNull
			}
			if left < 0 {
				left = mpi.ProcNull
			}
			for _, way := range exchanging {
				for _, n := range sizes {
					in := pattern(n, c.Rank())
					st := get(way.do(c, pattern(n, c.Rank()), in, right, left))
					wanted, from := mpi.Status{Source: left, Tag: 1, Bytes: uint64(n)}, left
					if left == mpi.ProcNull {
						wanted, from = mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}, c.Rank() // as it was
					}
					if st != wanted || differs(in, from) >= 0 {
						stop(fmt.Errorf("%s of %d bytes from %d: %+v", way.name, n, left, st))
					}
				}
				in := pattern(8, 7)
				if st := get(way.do(c, in, in, mpi.ProcNull, mpi.ProcNull)); st.Source != mpi.ProcNull || differs(in, 7) >= 0 {
					t.Errorf("%s with nobody: %+v", way.name, st)
				}
			}
		})
	})
}

// The receive of an exchange is truncated like any other, and the send is whole.
func TestAnExchangeIsTruncatedOnOneSideOnly(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			other := 1 - c.Rank()
			for _, nonblocking := range []bool{false, true} {
				for _, n := range sizes[1:] {
					// Rank 0 sends n bytes and has room for them; rank 1 half of both.
					mine, theirs := n, n/2
					if c.Rank() == 1 {
						mine, theirs = n/2, n
					}
					b := pattern(mine, c.Rank())
					var st mpi.Status
					var err error
					if nonblocking {
						st, err = mpi.Wait(begin(mpi.IsendrecvReplace(c, b, other, 1, other, 1)))
					} else {
						st, err = mpi.SendrecvReplace(c, b, other, 1, other, 1)
					}
					class := mpi.Class(0)
					if mine < theirs {
						class = mpi.ErrTruncate
					}
					want(t, "the exchange", err, class)
					if st.Bytes != uint64(theirs) || differs(b[:n/2], other) >= 0 || c.Rank() == 0 && b[n-1] != pattern(n, 0)[n-1] {
						t.Errorf("%d bytes for %d: %+v", theirs, mine, st)
					}
				}
			}
		})
	})
}

// The two buffers may have different types, and the send be of another tag.
func TestAnExchangeMixesTypesTagsAndPartners(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			to, from := (c.Rank()+1)%3, (c.Rank()+2)%3
			for _, nonblocking := range []bool{false, true} {
				in := make([]float32, 4)
				out := []uint64{uint64(c.Rank()), 1 << 40}
				var st mpi.Status
				if nonblocking {
					st = get(mpi.Wait(begin(mpi.Isendrecv(c, out, to, c.Rank(), in, mpi.AnySource, mpi.AnyTag))))
				} else {
					st = get(mpi.Sendrecv(c, out, to, c.Rank(), in, mpi.AnySource, mpi.AnyTag))
				}
				if st.Source != from || st.Tag != from || mpi.Count[float32](st) != 4 || mpi.Count[uint64](st) != 2 {
					t.Errorf("status %+v, want source and tag %d", st, from)
				}
				ok(c.Barrier())
			}
		})
	})
}

// Pairs of operations from many goroutines, completed together.
func TestManyIsendrecvsAreUnderWayAtOnce(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const goroutines, each = 6, 20
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			var joins []func()
			for g := range goroutines {
				joins = append(joins, aside(func() {
					rs, sts, in := make([]mpi.Request, each), make([]mpi.Status, each), make([][]byte, each)
					for i := range rs {
						n := sizes[(i+g)%len(sizes)]
						in[i] = pattern(n, g*i+c.Rank())
						rs[i] = get(mpi.IsendrecvReplace(c, in[i], 1-c.Rank(), g, 1-c.Rank(), g))
					}
					ok(mpi.Waitall(rs, sts))
					for i := range in {
						if differs(in[i], g*i+1-c.Rank()) >= 0 || sts[i].Bytes != uint64(len(in[i])) || sts[i].Tag != g {
							stop(fmt.Errorf("exchange %d of goroutine %d: %+v", i, g, sts[i]))
						}
					}
				}))
			}
			for _, join := range joins {
				join()
			}
		}, opts...)
	})
}
