package mpi_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// untilPending waits for something to be pending.
func untilPending(w *mpi.World, is func(mpi.Pending) bool) {
	for !slices.ContainsFunc(w.Pending(), is) {
		runtime.Gosched()
	}
}

// untilBlocked waits until a goroutine of this rank is blocked in Disconnect.
func untilBlocked(w *mpi.World) {
	untilPending(w, func(p mpi.Pending) bool {
		return p.Blocked && strings.HasPrefix(p.What, "Disconnect of context ") && strings.Contains(p.Place, "comm_disconnect_test.go")
	})
}

// inFlight is something that ends only with the answer of the other rank. What begin
// returns completes it.
type inFlight struct {
	begin  func(w *mpi.World, d *mpi.Comm, in []byte) func()
	answer func(d *mpi.Comm)
}

// Disconnect waits for what is in flight, which other goroutines and ranks bring to
// its end.
func TestDisconnectWaitsForWhatIsInFlight(t *testing.T) {
	for name, play := range ordered(map[string]inFlight{
		"a receive": {
			func(w *mpi.World, d *mpi.Comm, in []byte) func() {
				r := get(mpi.Irecv(d, in, 1, 5))
				return func() { get(mpi.Wait(&r)) }
			},
			func(d *mpi.Comm) { ok(mpi.Send(d, pattern(8, 1), 0, 5)) },
		},
		"a receive that a goroutine waits for": {
			func(w *mpi.World, d *mpi.Comm, in []byte) func() {
				end := aside(func() { get(mpi.Recv(d, in, 1, 5)) })
				untilPending(w, func(p mpi.Pending) bool { return p.Tag == 5 })
				return end
			},
			func(d *mpi.Comm) { ok(mpi.Send(d, pattern(8, 1), 0, 5)) },
		},
		"a synchronous send": {
			func(w *mpi.World, d *mpi.Comm, in []byte) func() {
				fill(in, 1)
				r := get(mpi.Issend(d, pattern(8, 1), 1, 5))
				return func() { get(mpi.Wait(&r)) }
			},
			func(d *mpi.Comm) { get(mpi.Recv(d, make([]byte, 8), 0, 5)) },
		},
		"a persistent receive": {
			func(w *mpi.World, d *mpi.Comm, in []byte) func() {
				r, rest := get(mpi.RecvInit(d, in, 1, 5)), get(mpi.RecvInit(d, none, 1, 6))
				ok(mpi.Start(&r))
				return func() { get(mpi.Wait(&r)); ok(mpi.RequestFree(&r)); ok(mpi.RequestFree(&rest)) }
			},
			func(d *mpi.Comm) { ok(mpi.Send(d, pattern(8, 1), 0, 5)) },
		},
		"partitions": {
			func(w *mpi.World, d *mpi.Comm, in []byte) func() {
				r := get(mpi.PrecvInit(d, in, 2, 1, 5)).Request
				ok(mpi.Start(&r))
				return func() { get(mpi.Wait(&r)); ok(mpi.RequestFree(&r)) }
			},
			func(d *mpi.Comm) {
				r := get(mpi.PsendInit(d, pattern(8, 1), 2, 0, 5)).Request
				ok(mpi.Start(&r))
				ok(mpi.PreadyRange(0, 1, r))
				get(mpi.Wait(&r))
				ok(mpi.RequestFree(&r))
			},
		},
		"a collective call": {
			func(w *mpi.World, d *mpi.Comm, in []byte) func() {
				r := get(mpi.Ibcast(d, in, 1))
				return func() { get(mpi.Wait(&r)) }
			},
			func(d *mpi.Comm) { get(mpi.Wait(begin(mpi.Ibcast(d, pattern(8, 1), 1)))) },
		},
		"a persistent collective call": {
			func(w *mpi.World, d *mpi.Comm, in []byte) func() {
				r, rest := get(mpi.BcastInit(d, in, 1)), get(mpi.BcastInit(d, in, 0))
				ok(r.Start())
				return func() { get(r.Wait()); ok(r.Free()); ok(rest.Free()) }
			},
			func(d *mpi.Comm) {
				r, rest := get(mpi.BcastInit(d, pattern(8, 1), 1)), get(mpi.BcastInit(d, make([]byte, 8), 0))
				ok(r.Start())
				get(r.Wait())
				ok(r.Free())
				ok(rest.Free())
			},
		},
	}) {
		t.Run(name, func(t *testing.T) {
			withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
				blocked := newSignal()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					d := get(c.Dup())
					ok(d.SetName("linked"))
					if c.Rank() == 1 {
						blocked.take()
						play.answer(d)
						ok(d.Disconnect())
						return
					}
					in := make([]byte, 8)
					end := play.begin(w, d, in)
					ended := aside(func() { ok(d.Disconnect()) })
					untilBlocked(w)
					blocked.give()
					ended()
					if differs(in, 1) >= 0 {
						t.Error("Disconnect returns before what is in flight has ended")
					}
					end()
					wantWords(t, "Send", mpi.Send(d, none, 1, 0), mpi.ErrComm, `"linked" has been freed`)
					wantWords(t, "Disconnect", d.Disconnect(), mpi.ErrComm, "has been freed")
				}, opts...)
			})
		})
	}
}

// What ends by a call of this rank alone ends the wait too.
func TestDisconnectWaitsForMessagesToOneself(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for range 20 {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				d := get(c.Dup())
				first, again := make([]byte, 8), make([]byte, 8)
				r := get(mpi.Irecv(d, first, c.Rank(), 1))
				cancelled := get(mpi.Irecv(d, none, c.Rank(), 3))
				ok(mpi.Send(d, pattern(8, 2), c.Rank(), 2))
				m, _, err := mpi.Mprobe(d, c.Rank(), 2)
				ok(err)
				ended := aside(func() { ok(d.Disconnect()) })
				untilBlocked(w)
				wantWords(t, "a second Disconnect", d.Disconnect(), mpi.ErrComm, "another goroutine disconnects")
				ok(mpi.Send(d, pattern(8, 1), c.Rank(), 1))
				ok(mpi.Cancel(&cancelled))
				get(mpi.Mrecv(&m, again))
				ended()
				get(mpi.Wait(&r))
				get(mpi.Wait(&cancelled))
				if differs(first, 1) >= 0 || differs(again, 2) >= 0 {
					t.Error("other bytes have come")
				}
			}, opts...)
		}
	})
}

// No rank leaves Disconnect before all have come to it, and a collective call that
// has failed is no reason to stay.
func TestDisconnectIsCollective(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		come := newSignal()
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.Dup())
			err := mpi.Bcast(d, make([]byte, 1+c.Rank()), 0)
			if c.Rank() == 0 {
				for range 2 {
					come.take()
				}
			} else {
				want(t, "Bcast of other lengths", err, mpi.ErrCount)
				come.give()
			}
			ok(d.Disconnect())
			ok(c.Barrier())
			for _, c := range []*mpi.Comm{c, w.Self()} {
				wantWords(t, "Disconnect", c.Disconnect(), mpi.ErrComm, "Finalize")
			}
		})
	})
}

// A Disconnect that fails frees the communicator; what is in flight goes on.
func TestADisconnectThatEndsEarlyFreesTheCommunicator(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.Dup())
			deleted := false
			kv := mpi.NewKeyval(nil, func(*mpi.Comm, int) error { deleted = true; return nil })
			ok(kv.Set(d, 1))
			in := make([]byte, 8)
			r := get(mpi.Irecv(d, in, 1-c.Rank(), 1))
			ok(c.Barrier())
			s := get(mpi.Issend(d, pattern(8, 1), 1-c.Rank(), 1))
			late := get(mpi.Irecv(d, none, 1-c.Rank(), 2))
			want(t, "Disconnect", d.WithContext(ended()).Disconnect(), mpi.ErrCanceled)
			wantWords(t, "Send", mpi.Send(d, none, 0, 0), mpi.ErrComm, "has been freed")
			if !deleted {
				t.Error("its attributes are not deleted")
			}
			get(mpi.Wait(&s))
			get(mpi.Wait(&r))
			ok(mpi.Cancel(&late))
			get(mpi.Wait(&late))
			if differs(in, 1) >= 0 {
				t.Error("other bytes have come")
			}
		})
	})
}

// A death ends Disconnect at every other rank, whatever it waits for.
func TestADeathEndsDisconnect(t *testing.T) {
	dies := errors.New("rank 2 dies")
	onEach(t, func(t *testing.T, fabric string) {
		for _, pending := range []bool{false, true} {
			err := try(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) error {
				return attempt(func() {
					d := get(c.Dup())
					if c.Rank() == 2 {
						stop(dies)
					}
					if pending { // of a rank that lives
						get(mpi.Irecv(d, make([]byte, 8), 1-c.Rank(), 1))
					}
					want(t, "Disconnect", d.Disconnect(), mpi.ErrProcFailed)
					wantWords(t, "Send", mpi.Send(d, none, 0, 0), mpi.ErrComm, "has been freed")
				})
			})
			if err == nil || !strings.Contains(err.Error(), dies.Error()) {
				t.Errorf("the job ends with %v", err)
			}
		}
	})
}
