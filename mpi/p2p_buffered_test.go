package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// room is attached memory for so many long messages at once.
func room(messages int) []byte { return make([]byte, messages*(long+mpi.BsendOverhead)) }

// long is a message that stays in attached memory until it is received.
const long = 100_000

// bsends are the ways to send in buffered mode; they return the error that the
// operation completes with, and do so without the receiver.
var bsends = []struct {
	name string
	send func(c *mpi.Comm, b []byte, dest, tag int) error
}{
	{"Bsend", func(c *mpi.Comm, b []byte, dest, tag int) error { return mpi.Bsend(c, b, dest, tag) }},
	{"Ibsend", func(c *mpi.Comm, b []byte, dest, tag int) error {
		_, err := mpi.Wait(begin(mpi.Ibsend(c, b, dest, tag)))
		return err
	}},
	{"BsendInit", func(c *mpi.Comm, b []byte, dest, tag int) error {
		r := begin(mpi.BsendInit(c, b, dest, tag))
		ok(mpi.Start(r))
		_, err := mpi.Wait(r)
		ok(mpi.RequestFree(r))
		return err
	}},
}

// The sender's buffer is its own again at once, and what found no room has not
// been sent.
func TestABufferedSendTakesACopyOrNothing(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const fit = 4
		for _, s := range bsends {
			for dest := range 2 {
				sent := newSignal()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					if c.Rank() == 0 {
						ok(w.BufferAttach(room(fit)))
						b := make([]byte, long)
						for i := range fit {
							fill(b, i)
							ok(s.send(c, b, dest, 1))
						}
						fill(b, 99)
						err := s.send(c, b, dest, 1)
						want(t, s.name+" without room", err, mpi.ErrBuffer)
						var none *mpi.NoBufferError
						if !errors.As(err, &none) || none.Need < long || none.Free >= long || none.Size != len(room(fit)) {
							t.Errorf("%s without room: %v", s.name, err)
						}
						sent.give()
					}
					if c.Rank() == dest {
						sent.take()
						in := make([]byte, long)
						for i := range fit {
							if get(mpi.Recv(c, in, 0, 1)); differs(in, i) >= 0 {
								t.Errorf("%s: message %d has other bytes", s.name, i)
							}
						}
					}
					if c.Rank() == 0 {
						ok(w.BufferFlush(t.Context()))
						ok(s.send(c, pattern(long, 7), dest, 1))
					}
					if c.Rank() == dest {
						in := make([]byte, long)
						if get(mpi.Recv(c, in, 0, 1)); differs(in, 7) >= 0 {
							t.Errorf("%s: the message after the one without room has other bytes", s.name)
						}
					}
				}, opts...)
			}
		}
	})
}

func TestDetachGivesTheMemoryBackOnceAllIsDelivered(t *testing.T) {
	type attacher struct {
		attach func([]byte) error
		detach func(context.Context) ([]byte, error)
		flush  func(context.Context) error
		iflush func() (mpi.Request, error)
	}
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, own := range []bool{false, true} {
			for dest := range 2 {
				received := shared[atomic.Bool]()
				sent := newSignal()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					recv := func() {
						sent.take()
						st := get(mpi.Probe(c, 0, 1))
						received.Store(true)
						in := make([]byte, st.Bytes)
						if get(mpi.Recv(c, in, 0, 1)); differs(in, 3) >= 0 {
							t.Error("other bytes have come")
						}
					}
					if c.Rank() == 1 {
						if dest == 1 {
							recv()
						}
						return
					}
					a := attacher{w.BufferAttach, w.BufferDetach, w.BufferFlush, w.BufferIflush}
					if own {
						a = attacher{c.BufferAttach,
							func(ctx context.Context) ([]byte, error) { return c.WithContext(ctx).BufferDetach() },
							func(ctx context.Context) error { return c.WithContext(ctx).BufferFlush() }, c.BufferIflush}
					}
					buf := room(1)
					ok(a.attach(buf))
					want(t, "a second attach", a.attach(room(1)), mpi.ErrBuffer)
					ok(mpi.Bsend(c, pattern(long, 3), dest, 1))

					gone, cancel := context.WithCancel(t.Context())
					cancel()
					_, err := a.detach(gone)
					want(t, "detach with a context that has ended", err, mpi.ErrCanceled)
					want(t, "flush with a context that has ended", a.flush(gone), mpi.ErrCanceled)
					r := begin(a.iflush())
					if ended, _, err := mpi.Test(r); ended || err != nil {
						t.Errorf("Test of an iflush = %t, %v before the message is received", ended, err)
					}
					sent.give()
					join := func() {}
					if dest == 0 {
						join = aside(recv)
					}
					get(mpi.Wait(r))
					got := get(a.detach(t.Context()))
					if !received.Load() {
						t.Error("flushed and detached before the message was received")
					}
					if len(got) != len(buf) || &got[0] != &buf[0] {
						t.Errorf("detach returned %d bytes at %p, not the %d at %p", len(got), got, len(buf), buf)
					}
					join()
					// Without memory it is as if none of no bytes were attached.
					if got, err := a.detach(t.Context()); len(got) != 0 || err != nil {
						t.Errorf("a second detach returned %d bytes, %v", len(got), err)
					}
					ok(a.flush(t.Context()))
					get(mpi.Wait(begin(a.iflush())))
					want(t, "Bsend without memory", mpi.Bsend(c, pattern(long, 1), dest, 1), mpi.ErrBuffer)
				}, opts...)
			}
		}
	})
}

func TestACommunicatorsOwnMemoryComesFirst(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.Dup())
			all, own := room(2), room(1)
			ok(w.BufferAttach(all))
			ok(d.BufferAttach(own))
			ok(mpi.Bsend(d, pattern(long, 0), 0, 1))
			want(t, "Bsend with the communicator's memory full", mpi.Bsend(d, pattern(long, 1), 0, 1), mpi.ErrBuffer)
			ok(mpi.Bsend(c, pattern(long, 2), 0, 1))
			ok(mpi.Bsend(c, pattern(long, 3), 0, 1))
			want(t, "Bsend with the World's memory full", mpi.Bsend(c, pattern(long, 4), 0, 1), mpi.ErrBuffer)

			in := make([]byte, long)
			get(mpi.Recv(d, in, 0, 1))
			if got := get(d.BufferDetach()); &got[0] != &own[0] {
				t.Error("the communicator's detach gave back other memory")
			}
			want(t, "Bsend after the detach, with the World's memory full", mpi.Bsend(d, in, 0, 1), mpi.ErrBuffer)
			get(mpi.Recv(c, in, 0, 1))
			ok(mpi.Bsend(d, pattern(long, 5), 0, 1))
			get(mpi.Recv(c, in, 0, 1))
			get(mpi.Recv(d, in, 0, 1))
			if got := get(w.BufferDetach(t.Context())); &got[0] != &all[0] || differs(in, 5) >= 0 {
				t.Error("the World's detach gave back other memory, or other bytes have come")
			}
		})
	})
}

// Messages of all sizes leave the memory in any order; in the end it is whole.
func TestAttachedMemoryIsReused(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			rnd := rand.New(rand.NewPCG(1, 7))
			buf := room(10)
			ok(w.BufferAttach(buf))
			size := map[int]int{} // by tag, of what is not received
			recv := func(tag int) {
				in := make([]byte, size[tag])
				if get(mpi.Recv(c, in, 0, tag)); differs(in, tag) >= 0 {
					stop(fmt.Errorf("message %d of %d bytes has others", tag, len(in)))
				}
				delete(size, tag)
			}
			refused := 0
			for tag := range 1000 {
				n := rnd.IntN(2 * long)
				switch err := mpi.Bsend(c, pattern(n, tag), 0, tag); {
				case err == nil:
					size[tag] = n
				case errors.Is(err, mpi.ErrBuffer):
					refused++
					for k := range size {
						recv(k)
						break
					}
				default:
					ok(err)
				}
			}
			for k := range size {
				recv(k)
			}
			if refused == 0 {
				t.Error("the memory was never full")
			}
			whole := len(buf) - mpi.BsendOverhead
			ok(mpi.Bsend(c, pattern(whole, 1), 0, 1))
			size[1] = whole
			recv(1)
		})
	})
}

func TestManyGoroutinesShareAttachedMemory(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const goroutines, rounds = 8, 40
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			var joins []func()
			if c.Rank() == 0 {
				ok(w.BufferAttach(room(4)))
			}
			for g := range goroutines {
				joins = append(joins, aside(func() {
					for i := range rounds {
						b := make([]byte, sizes[(g+i)%len(sizes)])
						if c.Rank() == 1 {
							if get(mpi.Recv(c, b, 0, g)); differs(b, g*i) >= 0 {
								stop(fmt.Errorf("message %d of goroutine %d has other bytes", i, g))
							}
							continue
						}
						fill(b, g*i)
						err := mpi.Bsend(c, b, 1, g)
						for ; errors.Is(err, mpi.ErrBuffer); err = mpi.Bsend(c, b, 1, g) {
							ok(w.BufferFlush(t.Context()))
						}
						ok(err)
						clear(b)
					}
				}))
			}
			for _, join := range joins {
				join()
			}
			if c.Rank() == 0 {
				if b := get(w.BufferDetach(t.Context())); len(b) != len(room(4)) {
					t.Errorf("detach returned %d bytes", len(b))
				}
			}
		}, opts...)
	})
}

func TestAPersistentBufferedSendThatFoundNoRoomStartsAgain(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			ok(w.BufferAttach(room(1)))
			b, in := make([]byte, long), make([]byte, long)
			r := begin(mpi.BsendInit(c, b, 0, 1))
			for i := range 10 {
				fill(b, i)
				ok(mpi.Start(r))
				get(mpi.Wait(r))
				fill(b, 99)
				ok(mpi.Start(r))
				_, err := mpi.Wait(r)
				want(t, "Wait of a start without room", err, mpi.ErrBuffer)
				if get(mpi.Recv(c, in, 0, 1)); differs(in, i) >= 0 {
					t.Errorf("start %d sent other bytes", i)
				}
			}
			ok(mpi.RequestFree(r))
			if there, st, err := mpi.Iprobe(c, 0, 1); there || err != nil {
				t.Errorf("Iprobe = %t, %+v, %v: a start without room has sent", there, st, err)
			}
		})
	})
}

// The copies for a rank that has died do not hold the memory for ever.
func TestDetachReturnsWhenTheReceiverHasDied(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		sent := newSignal()
		err := try(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			return attempt(func() {
				if c.Rank() == 1 {
					sent.take()
					stop(errors.New("rank 1 dies"))
				}
				buf := room(2)
				ok(w.BufferAttach(buf))
				ok(mpi.Bsend(c, pattern(long, 1), 1, 1))
				ok(mpi.Bsend(c, pattern(10, 1), 1, 1))
				sent.give()
				if got := get(w.BufferDetach(t.Context())); &got[0] != &buf[0] {
					t.Error("detach gave back other memory")
				}
			})
		})
		if err == nil {
			t.Error("Run does not tell of the rank that has died")
		}
	})
}
