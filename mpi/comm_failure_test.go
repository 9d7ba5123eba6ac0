package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestARecvWhoseContextEndsIsWithdrawn(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, source := range []int{0, mpi.AnySource} {
			for _, nonblocking := range []bool{false, true} {
				run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
					if c.Rank() == 0 {
						if _, err := mpi.Recv(c, []int{0}, 1, 9); err != nil { // it has been canceled
							return err
						}
						return mpi.Send(c, []int{42}, 1, 1)
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					unused := []int{-1}
					var err error
					if nonblocking {
						var r mpi.Request
						if r, err = mpi.Irecv(c.WithContext(ctx), unused, source, 1); err != nil {
							return err
						}
						go cancel()
						_, err = mpi.Wait(&r)
					} else {
						go cancel()
						_, err = mpi.Recv(c.WithContext(ctx), unused, source, 1)
					}
					want(t, "the canceled receive", err, mpi.ErrCanceled)
					if !errors.Is(err, context.Canceled) {
						t.Errorf("error %v does not tell that the context was canceled", err)
					}
					if err := mpi.Send(c, []int{0}, 0, 9); err != nil {
						return err
					}
					in := []int{-1}
					if _, err := mpi.Recv(c, in, 0, 1); err != nil || in[0] != 42 || unused[0] != -1 {
						t.Errorf("the next receive got %d, the canceled one %d, %v", in[0], unused[0], err)
					}
					return nil
				})
			}
		}
	})
}

func TestADeadlineAndACauseAreTold(t *testing.T) {
	run(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(t.Context(), 1)
		defer cancel()
		_, err := mpi.Recv(c.WithContext(ctx), []int{0}, 0, 1)
		want(t, "Recv", err, mpi.ErrCanceled)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Recv: %v", err)
		}
		why := errors.New("the user has gone home")
		causes, stop := context.WithCancelCause(t.Context())
		stop(why)
		_, err = mpi.Recv(c.WithContext(causes), []int{0}, 0, 1)
		want(t, "Recv", err, mpi.ErrCanceled)
		if !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
			t.Errorf("Recv: %v, want the cause and context.Canceled", err)
		}
		return nil
	})
}

// Sends that nobody receives: short ones fill the way, then wait; that they
// can be abandoned. A long one is announced, and goes on.
func TestASendNobodyReceivesEndsWithItsContextOrItsReceive(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.Rank() == 1 {
				// The receiver takes all that was not abandoned, in order.
				last := -1
				for {
					in := []int{-1}
					st, err := mpi.Recv(c, in, 0, mpi.AnyTag)
					if err != nil {
						return err
					}
					if st.Tag == 2 {
						break
					}
					if in[0] != last+1 {
						t.Errorf("message %d after %d", in[0], last)
					}
					last = in[0]
				}
				b := make([]byte, 100_000)
				_, err := mpi.Recv(c, b, 0, 3)
				if differs(b, 1) >= 0 {
					t.Error("the long message has other bytes")
				}
				return err
			}
			var sent atomic.Int64
			done := make(chan error)
			go func() {
				for i := 0; ; i++ {
					if err := mpi.Send(c.WithContext(ctx), []int{i}, 1, 1); err != nil {
						done <- err
						return
					}
					if sent.Add(1) == 3000 {
						cancel()
					}
					if ctx.Err() != nil && i > 200_000 {
						done <- nil // the receiver is fast: nothing ever waited
						return
					}
				}
			}()
			if err := <-done; err != nil {
				want(t, "an abandoned send", err, mpi.ErrCanceled)
			}
			if err := mpi.Send(c, []int{0}, 1, 2); err != nil {
				return err
			}
			gone, stop := context.WithCancel(t.Context())
			stop()
			if err := mpi.Send(c.WithContext(gone), pattern(100_000, 1), 1, 3); err != nil {
				// Abandoned before it was announced: send it again.
				want(t, "the long send", err, mpi.ErrCanceled)
				return mpi.Send(c, pattern(100_000, 1), 1, 3)
			}
			return nil
		})
	})
}

// One rank fails: all others, whatever they wait for from it, fail and do not
// hang, and Run tells the errors of all.
func TestARankThatFailsFailsTheOthers(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{2, 3, 4, 7} {
			for what, wait := range ordered(map[string]func(c *mpi.Comm, failing int) error{
				"in Recv": func(c *mpi.Comm, failing int) error {
					_, err := mpi.Recv(c, make([]byte, 8), failing, 1)
					return err
				},
				"in a long Send": func(c *mpi.Comm, failing int) error { return mpi.Send(c, make([]byte, 1<<20), failing, 1) },
				"in a Wait": func(c *mpi.Comm, failing int) error {
					r, err := mpi.Irecv(c, make([]byte, 8), failing, 1)
					if err != nil {
						return err
					}
					_, err = mpi.Wait(&r)
					return err
				},
				"in Finalize": func(c *mpi.Comm, failing int) error { return nil },
				"in Barrier":  func(c *mpi.Comm, failing int) error { return c.Barrier() },
			}) {
				t.Run(fmt.Sprintf("%d ranks %s", n, what), func(t *testing.T) {
					bad := errors.New("bad luck")
					failing := n - 1
					err := try(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
						if c.Rank() == failing {
							return bad
						}
						err := wait(c, failing)
						if what != "in Finalize" {
							want(t, fmt.Sprintf("rank %d %s", c.Rank(), what), err, mpi.ErrProcFailed)
						}
						return err
					})
					if !errors.Is(err, bad) || !errors.Is(err, mpi.ErrProcFailed) {
						t.Errorf("Run = %v: want the failure and what followed from it", err)
					}
				})
			}
		}
	})
}

// Ranks that have nothing to do with the failed one go on.
func TestOthersGoOnAfterAFailure(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		bad := errors.New("bad luck")
		rounds := shared[atomic.Int64]()
		err := try(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) error {
			if c.Rank() == 2 {
				return bad
			}
			_, err := mpi.Recv(c, make([]byte, 8), 2, 1)
			want(t, "a receive from the failed", err, mpi.ErrProcFailed)
			b := make([]byte, 1000)
			for range 50 {
				in := make([]byte, 1000)
				if _, err := mpi.Sendrecv(c, b, 1-c.Rank(), 1, in, 1-c.Rank(), 1); err != nil {
					return err
				}
				rounds.Add(1)
			}
			return nil
		})
		if !errors.Is(err, bad) || rounds.Load() != 100 {
			t.Errorf("%d rounds after the failure, Run = %v", rounds.Load(), err)
		}
	})
}
