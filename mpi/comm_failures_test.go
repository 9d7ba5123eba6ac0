package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// errDies is how a rank of these tests dies.
var errDies = errors.New("this rank dies")

// lose runs a job of n ranks of which some die, and checks that these are all that fails.
func lose(t *testing.T, fabric string, n int, f func(w *mpi.World, c *mpi.Comm) error) {
	t.Helper()
	err := try(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
		if err := f(w, c); err != nil {
			return err
		}
		// The World has lost ranks, which its Finalize says.
		if err := w.Finalize(); err != nil && !errors.Is(err, mpi.ErrProcFailed) {
			return err
		}
		return nil
	})
	if !errors.Is(err, errDies) {
		t.Errorf("the job has ended with %v", err)
	}
}

// sums checks that a communicator works.
func sums(t *testing.T, c *mpi.Comm, want int) {
	t.Helper()
	got := []int{0}
	if err := mpi.Allreduce(c, mpi.Sum, []int{1}, got); err != nil || c.Size() != want || got[0] != want {
		t.Errorf("rank %d of %d, want %d: Allreduce gives %v, %v", c.Rank(), c.Size(), want, got, err)
	}
}

// Without a death an agreement is a bitwise and.
func TestRanksAgree(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{1, 2, 3, 5, 8} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				run(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
					for i := range 20 {
						all := -1
						for r := range n {
							all &^= 1 << (r + i)
						}
						got, err := c.Agree(-1 &^ (1 << (c.Rank() + i)))
						if err != nil || got != all {
							return fmt.Errorf("rank %d, call %d: %#x, %w, want %#x", c.Rank(), i, got, err, all)
						}
					}
					r, got, err := c.Iagree(c.Rank() | 16)
					if err != nil {
						return err
					}
					second, again, err := c.Iagree(^c.Rank())
					if err != nil {
						return err
					}
					if _, err := mpi.Wait(&second); err != nil || *got != 16 {
						return fmt.Errorf("%d, %w: the first of two has not ended before the second, or not with 16", *got, err)
					}
					if _, err := mpi.Wait(&r); err != nil {
						return err
					}
					want := -1
					for r := range n {
						want &^= r
					}
					if *again != want {
						return fmt.Errorf("%#x, want %#x", *again, want)
					}
					d, err := c.Shrink()
					if err != nil {
						return err
					}
					sums(t, d, n)
					return d.Free()
				})
			})
		}
	})
}

// A rank dies; the others learn of it, agree, acknowledge, shrink and go on.
func TestTheLivingGoOn(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{2, 3, 4, 7} {
			for _, dies := range []int{0, n - 1} {
				t.Run(fmt.Sprintf("%d of %d dies", dies, n), func(t *testing.T) {
					lose(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
						if c.Rank() == dies {
							return errDies
						}
						if n == 2 {
							want(t, "Barrier", c.Barrier(), mpi.ErrProcFailed)
						}
						got, err := c.Agree(7)
						want(t, "Agree", err, mpi.ErrProcFailed)
						if got != 7 {
							t.Errorf("Agree = %d", got)
						}
						for { // a rank may agree on what others have seen before it hears of that itself
							g, err := c.Failed()
							if err != nil {
								return err
							}
							if g.Size() > 0 {
								break
							}
							if _, _, err := mpi.Iprobe(c, dies, 0); err != nil && !errors.Is(err, mpi.ErrProcFailed) {
								return err
							}
						}
						if k, err := c.AckFailed(1); err != nil || k != 1 {
							t.Errorf("AckFailed = %d, %v", k, err)
						}
						if got, err := c.Agree(5); err != nil || got != 5 {
							t.Errorf("Agree after all have acknowledged = %d, %v", got, err)
						}
						d, err := c.Shrink()
						if err != nil {
							return err
						}
						sums(t, d, n-1)
						e, err := d.Shrink()
						if err != nil {
							return err
						}
						sums(t, e, n-1)
						return errors.Join(d.Free(), e.Free())
					})
				})
			}
		}
	})
}

// A revocation ends what waits at every rank.
func TestRevokeEndsAllThatWaits(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for name, wait := range ordered(map[string]func(c *mpi.Comm) error{
			"Recv":     func(c *mpi.Comm) error { return second(mpi.Recv(c, make([]byte, 8), (c.Rank()+1)%c.Size(), 1)) },
			"any Recv": func(c *mpi.Comm) error { return second(mpi.Recv(c, make([]byte, 8), mpi.AnySource, 1)) },
			"Probe":    func(c *mpi.Comm) error { return second(mpi.Probe(c, (c.Rank()+1)%c.Size(), 1)) },
			"Ssend":    func(c *mpi.Comm) error { return mpi.Ssend(c, make([]byte, 8), (c.Rank()+1)%c.Size(), 1) },
			"Send":     func(c *mpi.Comm) error { return mpi.Send(c, make([]byte, 1<<20), (c.Rank()+1)%c.Size(), 1) },
			"Bcast":    func(c *mpi.Comm) error { return mpi.Bcast(c, make([]byte, 8), c.Size()-1) },
			"Barrier":  func(c *mpi.Comm) error { return c.Barrier() },
			"Ibarrier": func(c *mpi.Comm) error {
				r, err := c.Ibarrier()
				if err != nil {
					return err
				}
				_, err = mpi.Wait(&r)
				return err
			},
		}) {
			t.Run(name, func(t *testing.T) {
				run(t, fabric, 4, func(w *mpi.World, world *mpi.Comm) error {
					c, err := world.Dup()
					if err != nil {
						return err
					}
					for range 3 { // barriers by flags, if the fabric has any
						if err := c.Barrier(); err != nil {
							return err
						}
					}
					if err := world.Barrier(); err != nil { // all have left those of c
						return err
					}
					if c.Rank() == 3 {
						if err := c.Revoke(); err != nil {
							return err
						}
					} else {
						want(t, name, wait(c), mpi.ErrRevoked)
					}
					if !c.IsRevoked() {
						t.Error("IsRevoked is false")
					}
					want(t, "a later Send", mpi.Send(c, none, 0, 0), mpi.ErrRevoked)
					want(t, "a later Recv", second(mpi.Recv(c, make([]byte, 8), mpi.AnySource, 1)), mpi.ErrRevoked)
					want(t, "a later Probe", second(mpi.Probe(c, 0, 1)), mpi.ErrRevoked)
					_, _, err = mpi.Mprobe(c, 0, 1)
					want(t, "a later Mprobe", err, mpi.ErrRevoked)
					_, _, err = mpi.Iprobe(c, 0, 1)
					want(t, "a later Iprobe", err, mpi.ErrRevoked)
					want(t, "a later Barrier", c.Barrier(), mpi.ErrRevoked)
					want(t, "a later Dup", second(c.Dup()), mpi.ErrRevoked)
					want(t, "another Revoke", c.Revoke(), 0)
					if got, err := c.Agree(6); err != nil || got != 6 {
						t.Errorf("Agree = %d, %v", got, err)
					}
					d, err := c.Shrink()
					if err != nil {
						return err
					}
					sums(t, d, 4)
					want(t, "Free", errors.Join(c.Free(), d.Free()), 0)
					want(t, "a second Free", c.Free(), mpi.ErrComm)
					return world.Barrier()
				})
			})
		}
	})
}

// Ranks that have freed the communicator pass a revocation on, and it ends what they had
// begun.
func TestARevocationPassesFreedCommunicators(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 4, func(w *mpi.World, world *mpi.Comm) error {
			return attempt(func() {
				c := get(world.Dup())
				b := make([]byte, 8)
				switch c.Rank() {
				case 0:
					get(mpi.Recv(world, b, 1, 1))
					get(mpi.Recv(world, b, 2, 1))
					ok(c.Revoke())
				case 3:
					want(t, "a receive", second(mpi.Recv(c, b, 0, 0)), mpi.ErrRevoked)
				default:
					begun := get(mpi.Irecv(c, b, 0, 0))
					ok(c.Free())
					ok(mpi.Send(world, b, 0, 1))
					want(t, "a receive that began before Free", second(mpi.Wait(&begun)), mpi.ErrRevoked)
				}
				ok(world.Barrier())
				if c.Rank() == 0 || c.Rank() == 3 {
					ok(c.Free())
				}
			})
		})
	})
}

// A blocking receive or probe from any source ends when a rank dies from which it might
// have a message, and goes on once that is acknowledged; a request stays. What is here is
// received all the same.
func TestReceivesFromAnySourceArePending(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for name, wait := range ordered(map[string]func(c *mpi.Comm) error{
			"Recv":   func(c *mpi.Comm) error { return second(mpi.Recv(c, make([]byte, 8), mpi.AnySource, 1)) },
			"Probe":  func(c *mpi.Comm) error { return second(mpi.Probe(c, mpi.AnySource, 1)) },
			"Mprobe": func(c *mpi.Comm) error { _, _, err := mpi.Mprobe(c, mpi.AnySource, 1); return err },
			"Buf":    func(c *mpi.Comm) error { return second(c.Recv(mpi.Of(make([]byte, 8)), mpi.AnySource, 1)) },
		}) {
			t.Run(name, func(t *testing.T) {
				lose(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) error {
					return attempt(func() {
						switch c.Rank() {
						case 1:
							get(mpi.Recv(c, make([]byte, 8), 0, 2))
							stop(errDies)
						case 2:
							get(mpi.Recv(c, make([]byte, 8), 0, 3))
							for range 3 {
								ok(mpi.Send(c, make([]byte, 8), 0, 1))
							}
							get(mpi.Recv(c, make([]byte, 8), 0, 4))
							return
						}
						stays := get(mpi.Irecv(c, make([]byte, 8), mpi.AnySource, 1))
						ok(mpi.Send(c, make([]byte, 8), 1, 2))
						want(t, name, wait(c), mpi.ErrProcFailedPending)
						want(t, name+" again", wait(c), mpi.ErrProcFailedPending)
						want(t, "a receive from rank 1", second(mpi.Recv(c, make([]byte, 8), 1, 1)), mpi.ErrProcFailed)
						if n, err := c.AckFailed(0); n != 0 || err != nil {
							t.Errorf("AckFailed(0) = %d, %v", n, err)
						}
						if g := get(c.Failed()); g.Size() != 1 || g.Translate([]int{0}, c.Group())[0] != 1 {
							t.Errorf("Failed has %d ranks", g.Size())
						}
						if n, err := c.AckFailed(9); n != 1 || err != nil {
							t.Errorf("AckFailed(9) = %d, %v", n, err)
						}
						ok(mpi.Send(c, make([]byte, 8), 2, 3))
						ok(wait(c))
						ok(second(mpi.Wait(&stays)))
						ok(mpi.Send(c, make([]byte, 8), 2, 4))
					})
				})
			})
		}
	})
}

// A request for a message from any source ends no wait with a message after a death, but
// each with ErrProcFailedPending, and stays: once the death is acknowledged it is waited
// for again, and has its place in the order still. A Sendrecv takes back what it has sent.
func TestRequestsForAnySourceStayAfterADeath(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		lose(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) error {
			return attempt(func() {
				b := func() []byte { return make([]byte, 8) }
				big := make([]byte, 1<<20)
				switch c.Rank() {
				case 1:
					get(mpi.Recv(c, b(), 0, 2))
					stop(errDies)
				case 2:
					ok(mpi.Send(c, b(), 0, 7))
					get(mpi.Recv(c, b(), 0, 3))
					for _, tag := range []int{1, 4, 5, 6} {
						ok(mpi.Send(c, b(), 0, tag))
					}
					get(mpi.Recv(c, big, 0, 6))
					get(mpi.Recv(c, b(), 0, 3))
					if here, _, err := mpi.Iprobe(c, 0, mpi.AnyTag); here || err != nil {
						t.Errorf("of the Sendrecv that has failed a message is here (%v)", err)
					}
					ok(mpi.Send(c, b(), 0, 9))
					return
				}
				const pending = mpi.ErrProcFailedPending
				begun := get(mpi.Irecv(c, b(), mpi.AnySource, 1))
				persistent := get(mpi.RecvInit(c, b(), mpi.AnySource, 4))
				ok(mpi.Start(&persistent))
				ok(mpi.Send(c, b(), 1, 2))

				want(t, "Wait", second(mpi.Wait(&begun)), pending)
				want(t, "Wait for a persistent one", second(mpi.Wait(&persistent)), pending)
				later := get(mpi.Irecv(c, b(), mpi.AnySource, 5))
				pair := get(mpi.Isendrecv(c, big, 2, 6, b(), mpi.AnySource, 6))
				all := []*mpi.Request{&begun, &persistent, &later, &pair}
				for i, r := range all {
					if r.Null() {
						t.Fatalf("request %d has become null", i)
					}
					want(t, "Wait again", second(mpi.Wait(r)), pending)
					here, _, err := mpi.Test(r)
					want(t, "Test", err, pending)
					if here || r.Null() {
						t.Errorf("request %d: Test has completed it", i)
					}
					here, _, err = mpi.RequestStatus(*r)
					want(t, "RequestStatus", err, pending)
					if here {
						t.Errorf("request %d has completed, says RequestStatus", i)
					}
				}
				list := func() []mpi.Request { return []mpi.Request{begun, persistent, later, pair} }
				kept := func(call string, l []mpi.Request) {
					if !slices.Equal(l, list()) {
						t.Errorf("%s has changed the requests", call)
					}
				}
				l, sts, at := list(), make([]mpi.Status, 4), make([]int, 4)
				want(t, "Waitall", mpi.Waitall(l, sts), mpi.ErrInStatus)
				for _, st := range sts {
					want(t, "a status of Waitall", st.Err, pending)
				}
				kept("Waitall", l)
				want(t, "Waitall without statuses", mpi.Waitall(l, nil), pending)
				kept("Waitall", l)
				ended, err := mpi.Testall(l, nil)
				want(t, "Testall", err, pending)
				if !ended {
					t.Error("Testall says that there is something to wait for")
				}
				i, _, err := mpi.Waitany(l[1:])
				want(t, "Waitany", err, pending)
				if i != 0 {
					t.Errorf("Waitany = %d", i)
				}
				_, i, _, err = mpi.Testany(l)
				want(t, "Testany", err, pending)
				if i != 0 {
					t.Errorf("Testany = %d", i)
				}
				n, err := mpi.Waitsome(l, at, sts)
				want(t, "Waitsome", err, mpi.ErrInStatus)
				if n != 4 {
					t.Errorf("Waitsome = %d", n)
				}
				kept("the others", l)

				// One that can end is not held up.
				other := get(mpi.Irecv(c, b(), 2, 7))
				l = append(list(), other)
				for i, err = 0, nil; i != 4; i, _, err = mpi.Waitany(l) {
					if err != nil && !errors.Is(err, pending) {
						t.Fatal(err)
					}
				}
				ok(err)

				want(t, "Sendrecv", second(mpi.Sendrecv(c, big, 2, 8, b(), mpi.AnySource, 8)), pending)
				if n, err := c.AckFailed(1); n != 1 || err != nil {
					t.Errorf("AckFailed = %d, %v", n, err)
				}
				for i, r := range all {
					if here, _, err := mpi.Test(r); here || err != nil {
						t.Errorf("request %d after AckFailed: %v, %v", i, here, err)
					}
				}
				ok(mpi.Send(c, b(), 2, 3))
				for _, r := range all {
					ok(second(mpi.Wait(r)))
				}
				ok(mpi.RequestFree(&persistent))
				ok(mpi.Send(c, b(), 2, 3))
				get(mpi.Recv(c, b(), 2, 9))
			})
		})
	})
}
