package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// numberBuf is n numbers somewhere in memory, and what lies between them.
type numberBuf struct {
	mpi.Buf
	n    int
	at   func(i int) *int32
	gaps func() bool // nothing between them has been written to
}

// set gives them values.
func (s numberBuf) set(seed int) numberBuf {
	for i := range s.n {
		*s.at(i) = int32(i*7 + seed)
	}
	return s
}

// wrong says what of them is not as set has it, or that something else has been
// written to.
func (s numberBuf) wrong(seed, n int) error {
	for i := range n {
		if v := *s.at(i); v != int32(i*7+seed) {
			return fmt.Errorf("number %d of %d is %d, want %d", i, n, v, i*7+seed)
		}
	}
	for i := n; i < s.n; i++ {
		if *s.at(i) != 0 {
			return fmt.Errorf("number %d of %d was written to", i, n)
		}
	}
	if !s.gaps() {
		return fmt.Errorf("something between the %d numbers was written to", n)
	}
	return nil
}

// triple and couple have numbers and what is not sent.
type triple struct {
	v   [3]int32
	gap int32 `mpi:"-"`
}

type couple struct {
	gap  int64 `mpi:"-"`
	v    [2]int32
	more int8 `mpi:"-"`
}

// places are memory for n numbers, a multiple of six, in which they follow one
// another or do not.
var places = []func(n int) numberBuf{
	func(n int) numberBuf {
		s := make([]int32, n)
		return numberBuf{mpi.Of(s), n, func(i int) *int32 { return &s[i] }, func() bool { return true }}
	},
	func(n int) numberBuf {
		s := make([]triple, n/3)
		return numberBuf{mpi.OfStructs(s), n, func(i int) *int32 { return &s[i/3].v[i%3] }, func() bool {
			for i := range s {
				if s[i].gap != 0 {
					return false
				}
			}
			return true
		}}
	},
	func(n int) numberBuf {
		s := make([]couple, n/2)
		return numberBuf{mpi.OfStructs(s), n, func(i int) *int32 { return &s[i/2].v[i%2] }, func() bool {
			for i := range s {
				if s[i].gap != 0 || s[i].more != 0 {
					return false
				}
			}
			return true
		}}
	},
}

// counts are lengths of messages in numbers, for every way that one can take.
var counts = []int{0, 6, 180, 1026, 3000, 30_000}

// persist starts a persistent request twice: the second time it is another message
// from, or into, the same memory. again is called in between.
func persist(r *mpi.Request, again func()) mpi.Status {
	ok(mpi.Start(r))
	get(mpi.Wait(r))
	again()
	ok(mpi.Start(r))
	st := get(mpi.Wait(r))
	ok(mpi.RequestFree(r))
	return st
}

// bufSends are the calls that send a Buf. A persistent one sends two messages.
var bufSends = []struct {
	name  string
	ready bool
	twice bool
	do    func(c *mpi.Comm, b mpi.Buf, dest, tag int)
}{
	{"Send", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { ok(c.Send(b, dest, tag)) }},
	{"Ssend", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { ok(c.Ssend(b, dest, tag)) }},
	{"Rsend", true, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { ok(c.Rsend(b, dest, tag)) }},
	{"Bsend", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { ok(c.Bsend(b, dest, tag)) }},
	{"Isend", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { get(mpi.Wait(begin(c.Isend(b, dest, tag)))) }},
	{"Issend", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { get(mpi.Wait(begin(c.Issend(b, dest, tag)))) }},
	{"Irsend", true, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { get(mpi.Wait(begin(c.Irsend(b, dest, tag)))) }},
	{"Ibsend", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { get(mpi.Wait(begin(c.Ibsend(b, dest, tag)))) }},
	{"SendInit", false, true, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { persist(begin(c.SendInit(b, dest, tag)), func() {}) }},
	{"SsendInit", false, true, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { persist(begin(c.SsendInit(b, dest, tag)), func() {}) }},
	{"BsendInit", false, true, func(c *mpi.Comm, b mpi.Buf, dest, tag int) { persist(begin(c.BsendInit(b, dest, tag)), func() {}) }},
	{"RsendInit", true, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) {
		r := begin(c.RsendInit(b, dest, tag))
		ok(mpi.Start(r))
		get(mpi.Wait(r))
		ok(mpi.RequestFree(r))
	}},
	{"Sendrecv", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) {
		get(c.Sendrecv(b, dest, tag, mpi.Buf{}, mpi.ProcNull, 0))
	}},
	{"Isendrecv", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) {
		get(mpi.Wait(begin(c.Isendrecv(b, dest, tag, mpi.Buf{}, mpi.ProcNull, 0))))
	}},
	{"SendrecvReplace", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) {
		get(c.SendrecvReplace(b, dest, tag, mpi.ProcNull, 0))
	}},
	{"IsendrecvReplace", false, false, func(c *mpi.Comm, b mpi.Buf, dest, tag int) {
		get(mpi.Wait(begin(c.IsendrecvReplace(b, dest, tag, mpi.ProcNull, 0))))
	}},
}

// bufRecvs are the calls that receive into a Buf. posted is called where the receive is
// posted already; a call without it fits no ready send.
var bufRecvs = []struct {
	name  string
	ready bool
	do    func(c *mpi.Comm, b mpi.Buf, source, tag int, posted func()) mpi.Status
}{
	{"Recv", false, func(c *mpi.Comm, b mpi.Buf, source, tag int, posted func()) mpi.Status {
		return get(c.Recv(b, source, tag))
	}},
	{"Irecv", true, func(c *mpi.Comm, b mpi.Buf, source, tag int, posted func()) mpi.Status {
		r := begin(c.Irecv(b, source, tag))
		posted()
		return get(mpi.Wait(r))
	}},
	{"RecvInit", true, func(c *mpi.Comm, b mpi.Buf, source, tag int, posted func()) mpi.Status {
		r := begin(c.RecvInit(b, source, tag))
		ok(mpi.Start(r))
		posted()
		st := get(mpi.Wait(r))
		ok(mpi.RequestFree(r))
		return st
	}},
	{"Mrecv", false, func(c *mpi.Comm, b mpi.Buf, source, tag int, posted func()) mpi.Status {
		m, found, err := mpi.Mprobe(c, source, tag)
		ok(err)
		st := get(m.Mrecv(b))
		if st != found || m != (mpi.Message{}) {
			stop(fmt.Errorf("Mprobe found %+v, Mrecv received %+v and leaves %+v", found, st, m))
		}
		return st
	}},
	{"Imrecv", false, func(c *mpi.Comm, b mpi.Buf, source, tag int, posted func()) mpi.Status {
		m, _, err := mpi.Mprobe(c, source, tag)
		ok(err)
		return get(mpi.Wait(begin(m.Imrecv(b))))
	}},
	{"Recv of any", false, func(c *mpi.Comm, b mpi.Buf, source, tag int, posted func()) mpi.Status {
		return get(c.Recv(b, mpi.AnySource, mpi.AnyTag))
	}},
	{"Sendrecv", false, func(c *mpi.Comm, b mpi.Buf, source, tag int, posted func()) mpi.Status {
		return get(c.Sendrecv(mpi.Buf{}, mpi.ProcNull, 0, b, source, tag))
	}},
	{"IsendrecvReplace", false, func(c *mpi.Comm, b mpi.Buf, source, tag int, posted func()) mpi.Status {
		return get(mpi.Wait(begin(c.IsendrecvReplace(b, mpi.ProcNull, 0, source, tag))))
	}},
}

// A message comes whole whatever calls send and receive it, and wherever its elements
// lie on the two sides.
func TestEveryCallTakesBufs(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			const tag, goTag = 4, 5
			if c.Rank() == 0 {
				ok(w.BufferAttach(make([]byte, 1<<20)))
			}
			turn := 0
			for _, s := range bufSends {
				for _, r := range bufRecvs {
					if s.ready && !r.ready {
						continue
					}
					for _, n := range counts {
						turn++
						from, into := places[turn%len(places)], places[turn/len(places)%len(places)]
						if c.Rank() == 0 {
							b := from(n).set(turn)
							if s.ready {
								get(mpi.Recv(c, []byte{0}, 1, goTag))
							}
							s.do(c, b.Buf, 1, tag)
							ok(w.BufferFlush(c.Context()))
							if err := b.wrong(turn, n); err != nil {
								stop(fmt.Errorf("%s of %d: it has changed: %w", s.name, n, err))
							}
							continue
						}
						times := 1
						if s.twice {
							times = 2
						}
						for range times {
							b := into(n + 6)
							st := r.do(c, b.Buf, 0, tag, func() {
								if s.ready {
									ok(mpi.Send(c, []byte{0}, 0, goTag))
								}
							})
							if err := b.wrong(turn, n); err != nil || st != (mpi.Status{Source: 0, Tag: tag, Bytes: uint64(4 * n)}) {
								stop(fmt.Errorf("%s of %d numbers received by %s: %w, %+v", s.name, n, r.name, err, st))
							}
						}
					}
				}
			}
			if c.Rank() == 0 {
				get(w.BufferDetach(c.Context()))
			}
		}, opts...)
	})
}

// A persistent receive takes one message after another into the same elements.
func TestPersistentReceivesIntoBufsStartAgain(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			for _, place := range places {
				for _, n := range counts {
					if c.Rank() == 0 {
						for turn := range 2 {
							ok(c.Send(place(n).set(turn).Buf, 1, 0))
						}
						continue
					}
					b := place(n)
					persist(begin(c.RecvInit(b.Buf, 0, 0)), func() { ok(b.wrong(0, n)) })
					ok(b.wrong(1, n))
				}
			}
		})
	})
}

// Bufs go around a ring, to oneself too where it has one rank.
func TestBufsGoAroundARing(t *testing.T) {
	type exchange func(c *mpi.Comm, out, in numberBuf, dest, source int) mpi.Status
	ways := map[string]exchange{
		"Sendrecv": func(c *mpi.Comm, out, in numberBuf, dest, source int) mpi.Status {
			return get(c.Sendrecv(out.Buf, dest, 1, in.Buf, source, 1))
		},
		"Isendrecv": func(c *mpi.Comm, out, in numberBuf, dest, source int) mpi.Status {
			return get(mpi.Wait(begin(c.Isendrecv(out.Buf, dest, 1, in.Buf, source, 1))))
		},
		"SendrecvReplace": func(c *mpi.Comm, out, in numberBuf, dest, source int) mpi.Status {
			for i := range in.n {
				*in.at(i) = *out.at(i)
			}
			return get(c.SendrecvReplace(in.Buf, dest, 1, source, 1))
		},
		"IsendrecvReplace": func(c *mpi.Comm, out, in numberBuf, dest, source int) mpi.Status {
			for i := range in.n {
				*in.at(i) = *out.at(i)
			}
			return get(mpi.Wait(begin(c.IsendrecvReplace(in.Buf, dest, 1, source, 1))))
		},
		"Isend and Irecv": func(c *mpi.Comm, out, in numberBuf, dest, source int) mpi.Status {
			r := begin(c.Irecv(in.Buf, source, 1))
			s := begin(c.Isend(out.Buf, dest, 1))
			get(mpi.Wait(s))
			return get(mpi.Wait(r))
		},
		"Isend, then Irecv": func(c *mpi.Comm, out, in numberBuf, dest, source int) mpi.Status {
			s := begin(c.Isend(out.Buf, dest, 1))
			r := begin(c.Irecv(in.Buf, source, 1))
			get(mpi.Wait(s))
			return get(mpi.Wait(r))
		},
	}
	onEach(t, func(t *testing.T, fabric string) {
		for ranks := 1; ranks <= 4; ranks++ {
			t.Run(fmt.Sprint(ranks), func(t *testing.T) {
				act(t, fabric, ranks, func(w *mpi.World, c *mpi.Comm) {
					right, left := (c.Rank()+1)%ranks, (c.Rank()+ranks-1)%ranks
					for name, way := range ordered(ways) {
						for i, n := range counts {
							out, in := places[i%3](n), places[(i+1)%3](n)
							st := way(c, out.set(c.Rank()), in, right, left)
							if err := in.wrong(left, n); err != nil || st != (mpi.Status{Source: left, Tag: 1, Bytes: uint64(4 * n)}) {
								stop(fmt.Errorf("%s of %d numbers: %w, %+v", name, n, err, st))
							}
						}
					}
				})
			})
		}
	})
}

// A message that is longer than its Buf is cut, and nothing behind the Buf is touched.
func TestALongMessageIsCutToItsBuf(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			for _, place := range places {
				for _, n := range counts[1:] {
					if c.Rank() == 0 {
						ok(c.Send(place(n).set(3).Buf, 1, 0))
						continue
					}
					b := place(n - 6)
					st, err := c.Recv(b.Buf, 0, 0)
					want(t, "Recv", err, mpi.ErrTruncate)
					if werr := b.wrong(3, n-6); werr != nil || st.Bytes != uint64(4*n) {
						stop(fmt.Errorf("%d numbers into %d: %w, %+v", n, n-6, werr, st))
					}
				}
			}
		})
	})
}

// Towards nobody every call ends at once, and touches nothing.
func TestNobodyTakesAndGivesBufs(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			nobody := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
			for _, place := range places {
				b := place(60)
				for _, s := range bufSends {
					s.do(c, b.Buf, mpi.ProcNull, 1)
				}
				for _, r := range bufRecvs {
					if r.name == "Recv of any" {
						continue
					}
					if st := r.do(c, b.Buf, mpi.ProcNull, 1, func() {}); st != nobody {
						t.Errorf("%s: %+v", r.name, st)
					}
				}
				if st := get(c.Sendrecv(b.Buf, mpi.ProcNull, 0, b.Buf, mpi.ProcNull, 0)); st != nobody {
					t.Errorf("Sendrecv: %+v", st)
				}
				if st := get(c.SendrecvReplace(b.Buf, mpi.ProcNull, 0, mpi.ProcNull, 0)); st != nobody {
					t.Errorf("SendrecvReplace: %+v", st)
				}
				m := mpi.MessageNoProc
				if st := get(m.Mrecv(b.Buf)); st != nobody {
					t.Errorf("Mrecv: %+v", st)
				}
				if err := b.wrong(0, 0); err != nil {
					t.Error(err)
				}
			}
		})
	})
}

// A cancelled receive has touched nothing, and its Buf can be used again.
func TestACancelledReceiveLeavesItsBuf(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			for _, place := range places {
				b := place(600)
				r := begin(c.Irecv(b.Buf, 0, 1))
				ok(mpi.Cancel(r))
				if st := get(mpi.Wait(r)); !st.Cancelled {
					t.Errorf("%+v", st)
				}
				s := begin(c.Issend(place(600).set(1).Buf, 0, 1))
				ok(mpi.Cancel(s))
				if st := get(mpi.Wait(s)); !st.Cancelled {
					t.Errorf("%+v", st)
				}
				ok(b.wrong(0, 0))
				ok(c.Send(place(600).set(2).Buf, 0, 1))
				get(c.Recv(b.Buf, 0, 1))
				ok(b.wrong(2, 600))
			}
		})
	})
}

// The attached memory that a buffered send takes is that of the elements without gaps.
func TestABufferedSendOfABufTakesItsPackedSize(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			const n = 30_000
			for _, place := range places {
				b := place(n).set(1)
				ok(c.BufferAttach(make([]byte, 4*n+mpi.BsendOverhead)))
				ok(c.Bsend(b.Buf, 0, 1))
				want(t, "a second Bsend", c.Bsend(b.Buf, 0, 1), mpi.ErrBuffer)
				in := place(n)
				get(c.Recv(in.Buf, 0, 1))
				ok(in.wrong(1, n))
				get(c.BufferDetach())
				ok(c.BufferAttach(make([]byte, 4*n+mpi.BsendOverhead-1)))
				want(t, "Bsend into too little", c.Bsend(b.Buf, 0, 1), mpi.ErrBuffer)
				get(c.BufferDetach())
			}
		})
	})
}
