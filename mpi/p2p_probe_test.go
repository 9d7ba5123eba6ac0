package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// takes are the ways to probe for a message and to receive it then. at is what
// the probe answered.
var takes = []struct {
	name string
	take func(c *mpi.Comm, source, tag int, b []byte) (at, st mpi.Status)
}{
	{"Probe and Recv", func(c *mpi.Comm, source, tag int, b []byte) (at, st mpi.Status) {
		at = get(mpi.Probe(c, source, tag))
		return at, get(mpi.Recv(c, b, at.Source, at.Tag))
	}},
	{"Iprobe and Irecv", func(c *mpi.Comm, source, tag int, b []byte) (at, st mpi.Status) {
		for there := false; !there; {
			var err error
			there, at, err = mpi.Iprobe(c, source, tag)
			ok(err)
		}
		return at, get(mpi.Wait(begin(mpi.Irecv(c, b, at.Source, at.Tag))))
	}},
	{"Mprobe and Mrecv", func(c *mpi.Comm, source, tag int, b []byte) (at, st mpi.Status) {
		m, at, err := mpi.Mprobe(c, source, tag)
		ok(err)
		return at, get(mpi.Mrecv(&m, b))
	}},
	{"Improbe and Imrecv", func(c *mpi.Comm, source, tag int, b []byte) (at, st mpi.Status) {
		var m mpi.Message
		for there := false; !there; {
			var err error
			there, m, at, err = mpi.Improbe(c, source, tag)
			ok(err)
		}
		return at, get(mpi.Wait(begin(mpi.Imrecv(&m, b))))
	}},
}

func TestAProbeTellsOfTheMessageThatIsReceivedNext(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, way := range takes {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				if c.Rank() == 0 {
					for range 2 {
						for tag, n := range sizes {
							ok(mpi.Send(c, pattern(n, tag), 1, tag))
							get(mpi.Wait(begin(mpi.Issend(c, pattern(n, tag), 1, tag))))
						}
					}
					return
				}
				for round := range 2 {
					for tag, n := range sizes {
						source, wanted := 0, tag
						if round == 1 {
							source, wanted = mpi.AnySource, mpi.AnyTag
						}
						for range 2 {
							in := make([]byte, n)
							at, st := way.take(c, source, wanted, in)
							if at != st || at.Source != 0 || at.Tag != tag || mpi.Count[byte](at) != n || differs(in, tag) >= 0 {
								t.Errorf("%s of %d bytes: %+v, received %+v", way.name, n, at, st)
							}
						}
					}
				}
			}, opts...)
		}
	})
}

func TestAProbeFindsMessagesToOneself(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, way := range takes {
			act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
				for tag, n := range sizes {
					for _, source := range []int{0, mpi.AnySource} {
						plain, sync := begin(mpi.Isend(c, pattern(n, 1), 0, tag)), begin(mpi.Issend(c, pattern(n, 2), 0, tag))
						for i := range 2 {
							in := make([]byte, n)
							at, st := way.take(c, source, tag, in)
							if at != st || at.Source != 0 || at.Tag != tag || mpi.Count[byte](at) != n || differs(in, i+1) >= 0 {
								t.Errorf("%s of %d bytes: %+v, received %+v", way.name, n, at, st)
							}
						}
						ok(mpi.Waitall([]mpi.Request{*plain, *sync}, nil))
					}
				}
			})
		}
	})
}

// Posted receives get the messages they would get without the probe.
func TestAProbeDoesNotDisturbPostedReceives(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, n := range sizes[1:] {
			for _, way := range takes {
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					if c.Rank() == 0 {
						pingpong(c, 2)
						for i := range 4 {
							ok(mpi.Send(c, pattern(n, i), 1, 1))
						}
						return
					}
					a, b := make([]byte, n), make([]byte, n)
					rs := []mpi.Request{get(mpi.Irecv(c, a, 0, 1)), get(mpi.Irecv(c, b, mpi.AnySource, 1))}
					if there, _, err := mpi.Iprobe(c, 0, 1); there || err != nil {
						t.Errorf("Iprobe = %t, %v before anything was sent", there, err)
					}
					probed, third := aside(func() { // it waits before the messages come
						st := get(mpi.Probe(c, 0, 1))
						if mpi.Count[byte](st) != n {
							t.Errorf("Probe: %+v", st)
						}
					}), make([]byte, n)
					pingpong(c, 2)
					probed()
					way.take(c, 0, 1, third)
					ok(mpi.Waitall(rs, nil))
					fourth := make([]byte, n)
					get(mpi.Recv(c, fourth, 0, 1))
					for i, got := range [][]byte{a, b, third, fourth} {
						if differs(got, i) >= 0 {
							t.Errorf("%s: message %d of %d bytes went elsewhere", way.name, i, n)
						}
					}
				}, opts...)
			}
		}
	})
}

// A matched message is out of the queue: what was sent after it is received
// before it.
func TestAMatchedMessageIsNobodyElses(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, n := range sizes {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				if c.Rank() == 0 {
					rs := make([]mpi.Request, 3)
					for i := range rs {
						rs[i] = get(mpi.Isend(c, pattern(n, i), 1, 1))
					}
					ok(mpi.Waitall(rs, nil))
					return
				}
				m, _, err := mpi.Mprobe(c, 0, 1)
				ok(err)
				in := make([]byte, n)
				get(mpi.Recv(c, in, mpi.AnySource, mpi.AnyTag))
				second := differs(in, 1)
				get(mpi.Recv(c, in, 0, 1))
				third := differs(in, 2)
				if there, _, _ := mpi.Iprobe(c, 0, 1); there || second >= 0 || third >= 0 {
					t.Errorf("messages of %d bytes behind a matched one: there is one more (%t), or they are others", n, there)
				}
				copied := m
				if get(mpi.Mrecv(&m, in)); differs(in, 0) >= 0 {
					t.Errorf("Mrecv of %d bytes got another message", n)
				}
				if m != (mpi.Message{}) {
					t.Error("Mrecv did not set the handle to null")
				}
				again := copied
				_, err = mpi.Mrecv(&copied, in)
				want(t, "Mrecv of a copy", err, mpi.ErrRequest)
				_, err = mpi.Wait(begin(mpi.Imrecv(&again, in)))
				want(t, "Imrecv of a copy", err, mpi.ErrRequest)
				_, err = mpi.Mrecv(&m, in)
				want(t, "Mrecv of a null message", err, mpi.ErrRequest)
				_, err = mpi.Imrecv(&m, in)
				want(t, "Imrecv of a null message", err, mpi.ErrRequest)
			}, opts...)
		}
	})
}

// The slot of a received message serves the next ones: the old handle gets none
// of them.
func TestAReceivedMessageIsToldFromItsSuccessors(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			in := make([]byte, 8)
			var stale []mpi.Message
			for i := range 50 {
				ok(mpi.Send(c, pattern(8, i), 0, 1))
				there, m, _, err := mpi.Improbe(c, 0, 1)
				ok(err)
				if !there {
					t.Fatal("Improbe does not find what was sent")
				}
				for _, old := range stale {
					_, err := mpi.Mrecv(&old, in)
					want(t, "Mrecv of an old message", err, mpi.ErrRequest)
				}
				stale = append(stale, m)
				if get(mpi.Mrecv(&m, in)); differs(in, i) >= 0 {
					t.Errorf("message %d has other bytes", i)
				}
			}
		})
	})
}

func TestAMatchedMessageIsTruncatedLikeAnyOther(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			for _, n := range sizes[1:] {
				if c.Rank() == 0 {
					ok(mpi.Send(c, pattern(n, 1), 1, 1))
					continue
				}
				m, _, err := mpi.Mprobe(c, 0, 1)
				ok(err)
				in := make([]byte, n/2)
				st, err := mpi.Mrecv(&m, in)
				want(t, "Mrecv into a short buffer", err, mpi.ErrTruncate)
				if mpi.Count[byte](st) != n || differs(in, 1) >= 0 {
					t.Errorf("%d of %d bytes: %+v", n/2, n, st)
				}
			}
		})
	})
}

func TestEachMessageIsMatchedOnceByManyGoroutines(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const goroutines, senders, each = 8, 3, 100
		var received atomic.Int64
		var seen [senders * each]atomic.Int64
		act(t, fabric, 1+senders, func(w *mpi.World, c *mpi.Comm) {
			if s := c.Rank() - 1; s >= 0 {
				for i := range each {
					ok(mpi.Send(c, pattern(sizes[i%len(sizes)], s*each+i), 0, s*each+i))
				}
				return
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var joins []func()
			for range goroutines {
				joins = append(joins, aside(func() {
					last := [1 + senders]int{}
					for {
						m, at, err := mpi.Mprobe(c.WithContext(ctx), mpi.AnySource, mpi.AnyTag)
						if errors.Is(err, context.Canceled) {
							return
						}
						ok(err)
						in := make([]byte, at.Bytes)
						st := get(mpi.Mrecv(&m, in))
						if st != at || differs(in, at.Tag) >= 0 || seen[at.Tag].Add(1) > 1 {
							stop(fmt.Errorf("message %d: %+v, received %+v, before: %t", at.Tag, at, st, seen[at.Tag].Load() > 1))
						}
						if at.Tag < last[at.Source] {
							stop(fmt.Errorf("message %d of rank %d came behind %d", at.Tag, at.Source, last[at.Source]))
						}
						last[at.Source] = at.Tag
						if received.Add(1) == senders*each {
							cancel()
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

func TestAMatchedProbeOfNobodyGivesMessageNoProc(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			nobody := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
			in := []byte{77}
			m, st, err := mpi.Mprobe(c, mpi.ProcNull, 5)
			if !m.NoProc() || st != nobody || err != nil {
				t.Errorf("Mprobe = %+v, %+v, %v", m, st, err)
			}
			if st, err := mpi.Mrecv(&m, in); st != nobody || err != nil || in[0] != 77 || m != (mpi.Message{}) {
				t.Errorf("Mrecv = %+v, %v", st, err)
			}
			there, m, st, err := mpi.Improbe(c, mpi.ProcNull, mpi.AnyTag)
			if !there || !m.NoProc() || st != nobody || err != nil {
				t.Errorf("Improbe = %t, %+v, %+v, %v", there, m, st, err)
			}
			r, err := mpi.Imrecv(&m, in)
			if err != nil || m != (mpi.Message{}) {
				t.Errorf("Imrecv leaves %+v, %v", m, err)
			}
			if st, err := mpi.Wait(&r); st != nobody || err != nil || in[0] != 77 {
				t.Errorf("Imrecv ends with %+v, %v", st, err)
			}
			m = mpi.MessageNoProc
			r, err = mpi.Imrecv(&m, in)
			if r.Null() || err != nil || m != (mpi.Message{}) {
				t.Errorf("Imrecv of MessageNoProc = %+v, %v", r, err)
			}
			if st, err := mpi.Wait(&r); st != nobody || err != nil || !r.Null() || in[0] != 77 {
				t.Errorf("Imrecv of MessageNoProc ends with %+v, %v", st, err)
			}
			if st, err := mpi.Mrecv(&mpi.MessageNoProc, in); st != nobody || err != nil || !mpi.MessageNoProc.NoProc() {
				t.Errorf("Mrecv of MessageNoProc = %+v, %v, and leaves %+v", st, err, mpi.MessageNoProc)
			}
			if st, err := mpi.Probe(c, mpi.ProcNull, 5); st != nobody || err != nil {
				t.Errorf("Probe = %+v, %v", st, err)
			}
			if there, st, err := mpi.Iprobe(c, mpi.ProcNull, 5); !there || st != nobody || err != nil {
				t.Errorf("Iprobe = %t, %+v, %v", there, st, err)
			}
		})
	})
}
