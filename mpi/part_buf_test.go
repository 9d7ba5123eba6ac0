package mpi_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// spread is n numbers in a slice, as a Buf shows them.
type spread struct {
	name  string
	n     int
	room  int // of the slice
	buf   func(s []int32) mpi.Buf
	place func(i int) int // of number i
}

// padded is sent without its second field.
type padded struct {
	V   int32
	Own int32 `mpi:"-"`
}

// spreads are the kinds of Bufs with n numbers, a multiple of 8.
func spreads(n int) map[string]spread {
	pairs := get(mpi.TypeVector(2, 1, 2, mpi.TypeInt32)) // every other number; elements overlap no bytes
	ok(pairs.Commit())
	four := get(mpi.TypeResized(pairs, 0, 16))
	ok(four.Commit())
	lens, offs := make([]int, n/8), make([]int, n/8)
	for k := range lens {
		lens[k], offs[k] = 8, 9*(n/8-1-k)
	}
	all := map[string]spread{
		"slice": {room: n, buf: mpi.Of[int32], place: func(i int) int { return i }},
		"strided": {room: n / 4 * 6, buf: func(s []int32) mpi.Buf { return mpi.Strided(s, n/4, 4, 6) },
			place: func(i int) int { return i/4*6 + i%4 }},
		"subarray": {room: n / 4 * 7, buf: func(s []int32) mpi.Buf { return mpi.Subarray(s, []int{n / 4, 7}, []int{n / 4, 4}, []int{0, 2}) },
			place: func(i int) int { return i/4*7 + 2 + i%4 }},
		"indexed from the end": {room: n / 8 * 9, buf: func(s []int32) mpi.Buf { return mpi.Indexed(s, lens, offs) },
			place: func(i int) int { return offs[i/8] + i%8 }},
		"elements": {room: 2*n + 1, buf: func(s []int32) mpi.Buf { return mpi.As(four, s, n/2).At(4) },
			place: func(i int) int { return 1 + 2*i }},
		"structs": {room: 2 * n, buf: func(s []int32) mpi.Buf { return mpi.As(get(mpi.TypeOf[padded]()), s, n) },
			place: func(i int) int { return 2 * i }},
	}
	for name, s := range all {
		s.name, s.n = name, n
		all[name] = s
	}
	return all
}

// memory is a slice of the spread's room with nothing in it.
func (s *spread) memory() []int32 {
	b := make([]int32, s.room)
	for i := range b {
		b[i] = -1
	}
	return b
}

// gaps checks that nothing but the numbers is there.
func (s *spread) gaps(b []int32) {
	used := make(map[int]bool, s.n)
	for i := range s.n {
		used[s.place(i)] = true
	}
	for p, v := range b {
		if !used[p] && v != -1 {
			stop(fmt.Errorf("%s: element %d, which is none of the message, is %d", s.name, p, v))
		}
	}
}

// Partitions of Bufs, made ready by several goroutines, come to Bufs of other types with
// their elements, each when all of it is there, and nothing else is touched.
func TestPartitionsOfBufsArriveWithTheirElements(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		const rounds = 3
		for _, c := range []struct {
			out, in         string
			n, sends, recvs int
		}{
			{"strided", "slice", 240, 24, 5}, {"slice", "indexed from the end", 240, 5, 24}, {"structs", "elements", 240, 12, 30},
			{"elements", "subarray", 240, 120, 1}, {"strided", "slice", 1 << 18, 16, 16}, {"slice", "structs", 1 << 18, 16, 4},
			{"subarray", "strided", 1 << 18, 64, 8}, {"indexed from the end", "structs", 1 << 16, 1, 2},
		} {
			t.Run(fmt.Sprintf("%s to %s of %d", c.out, c.in, c.n), func(t *testing.T) {
				act(t, fabric, 2, func(w *mpi.World, comm *mpi.Comm) {
					of, number := spreads(c.n), func(round, i int) int32 { return int32(i + round*c.n) }
					if comm.Rank() == 0 {
						out := of[c.out]
						s := out.memory()
						r := beginParts(comm.PsendInit(out.buf(s), c.sends, 1, 7))
						sendNumbers(t, &out, s, r, c.sends, rounds, number)
						out.gaps(s)
						return
					}
					in := of[c.in]
					s := in.memory()
					r := beginParts(comm.PrecvInit(in.buf(s), c.recvs, 0, 7))
					part := c.n / c.recvs
					for round := range rounds {
						ok(mpi.Start(r))
						seen := 0
						for k := range mpi.Partitions(*r).Arriving() {
							seen++
							for i := k * part; i < (k+1)*part; i++ {
								if got := s[in.place(i)]; got != number(round, i) {
									stop(fmt.Errorf("partition %d of round %d has arrived with %d as number %d", k, round, got, i))
								}
							}
						}
						if st := get(mpi.Wait(r)); seen != c.recvs || st.Bytes != uint64(4*c.n) {
							stop(fmt.Errorf("%d partitions in round %d, status %+v", seen, round, st))
						}
					}
					in.gaps(s)
					ok(mpi.RequestFree(r))
				})
			})
		}
	})
}

// sendNumbers has four goroutines write the partitions of s and make them ready, in
// rounds, and frees r.
func sendNumbers(t *testing.T, out *spread, s []int32, r *mpi.Request, parts, rounds int, number func(round, i int) int32) {
	p, part := mpi.Partitions(*r), out.n/parts
	for round := range rounds {
		ok(mpi.Start(r))
		var all sync.WaitGroup
		for g := range min(parts, 4) {
			all.Go(func() {
				for k := parts - 1 - g; k >= 0; k -= 4 {
					for i := k * part; i < (k+1)*part; i++ {
						s[out.place(i)] = number(round, i)
					}
					if err := p.Ready(k); err != nil {
						t.Errorf("Ready(%d) of round %d: %v", k, round, err)
					}
				}
			})
		}
		all.Wait()
		get(mpi.Wait(r))
	}
	ok(mpi.RequestFree(r))
}

// The same of one rank, which sends to itself from a Buf into another one.
func TestPartitionsOfBufsToOneself(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			of := spreads(80)
			for _, pair := range [][2]string{{"strided", "structs"}, {"slice", "strided"}, {"structs", "slice"}} {
				out, in := of[pair[0]], of[pair[1]]
				from, into := out.memory(), in.memory()
				s, r := beginParts(c.PsendInit(out.buf(from), 10, 0, 1)), beginParts(c.PrecvInit(in.buf(into), 4, 0, 1))
				for i := range 80 {
					from[out.place(i)] = int32(i)
				}
				ok(mpi.Startall([]mpi.Request{*s, *r}))
				ok(mpi.PreadyRange(0, 4, *s))
				if here, early := get(mpi.Parrived(*r, 1)), get(mpi.Parrived(*r, 2)); !here || early {
					stop(fmt.Errorf("half of the send is ready; arrived of quarters: the second %t, the third %t", here, early))
				}
				ok(mpi.PreadyRange(5, 9, *s))
				get(mpi.Wait(s))
				get(mpi.Wait(r))
				for i := range 80 {
					if got := into[in.place(i)]; got != int32(i) {
						stop(fmt.Errorf("number %d came as %d", i, got))
					}
				}
				in.gaps(into)
				ok(mpi.RequestFree(s))
				ok(mpi.RequestFree(r))
			}
		})
	})
}

func TestPartitionsOfBufsAreRefused(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		s := make([]int32, 12)
		loose := get(mpi.TypeVector(2, 1, 2, mpi.TypeInt32))
		twice := get(mpi.TypeIndexed([]int{2, 2}, []int{0, 1}, mpi.TypeInt32))
		ok(twice.Commit())
		type mixed struct {
			A int64
			B int32
		}
		for _, tc := range []struct {
			what       string
			b          mpi.Buf
			parts      int
			send, recv mpi.Class // 0: it is made
		}{
			{"no partitions", mpi.Of(s), 0, mpi.ErrArg, mpi.ErrArg},
			{"too many", mpi.Of(s), math.MaxInt, mpi.ErrArg, mpi.ErrArg},
			{"elements that are no multiple", mpi.Of(s), 5, mpi.ErrCount, mpi.ErrCount},
			{"numbers of a view that are no multiple", mpi.Strided(s, 3, 2, 4), 4, mpi.ErrCount, mpi.ErrCount},
			{"a view that goes", mpi.Strided(s, 3, 2, 4), 6, 0, 0},
			{"a part of a struct", mpi.OfStructs(make([]mixed, 1)), 2, mpi.ErrCount, mpi.ErrCount},
			{"structs", mpi.OfStructs(make([]mixed, 2)), 2, 0, 0},
			{"nothing", mpi.Buf{}, 3, 0, 0},
			{"a type that is not committed", mpi.As(loose, s, 3), 3, mpi.ErrType, mpi.ErrType},
			{"a negative count", mpi.As(mpi.TypeInt32, s, -3), 3, mpi.ErrCount, mpi.ErrCount},
			{"elements outside of the memory", mpi.As(mpi.TypeInt32, s, 15), 3, mpi.ErrBuffer, mpi.ErrBuffer},
			{"a view outside of its slice", mpi.Strided(s, 3, 2, 6), 3, mpi.ErrArg, mpi.ErrArg},
			{"elements that overlap", mpi.As(twice, s, 3), 3, 0, mpi.ErrType},
			{"more bytes than memory has", mpi.Strided(s, 1<<60, 1, 0), 1, mpi.ErrCount, mpi.ErrCount},
			{"in place", mpi.BufInPlace, 1, mpi.ErrBuffer, mpi.ErrBuffer},
		} {
			for call, init := range map[string]func(b mpi.Buf, parts, peer, tag int) (*mpi.Partitioned, error){"PsendInit": c.PsendInit, "PrecvInit": c.PrecvInit} {
				class := tc.send
				if call == "PrecvInit" {
					class = tc.recv
				}
				p, err := init(tc.b, tc.parts, mpi.ProcNull, 0)
				want(t, call+": "+tc.what, err, class)
				if err == nil {
					ok(p.Free())
				}
			}
		}
		_, err := c.PsendInit(mpi.Of(s), 3, 7, 0)
		want(t, "a rank that there is not", err, mpi.ErrRank)
		_, err = c.PrecvInit(mpi.Of(s), 3, mpi.AnySource, 0)
		want(t, "any source", err, mpi.ErrRank)
		_, err = c.PrecvInit(mpi.Of(s), 3, 0, mpi.AnyTag)
		want(t, "any tag", err, mpi.ErrTag)
		_, err = (*mpi.Comm)(nil).PsendInit(mpi.Of(s), 3, 0, 0)
		want(t, "no communicator", err, mpi.ErrComm)
	})
}
