package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// startAndWait makes a start of a request.
func startAndWait(r *mpi.Request) error {
	ok(mpi.Start(r))
	return second(mpi.Wait(r))
}

func TestAnActivePersistentCallIsOnlyCompleted(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		begun := newSignal()
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			sum := []int{0}
			r := get(mpi.AllreduceInit(c, mpi.Sum, []int{c.Rank() + 1}, sum))
			was := r
			if isEmpty(t, "Wait at rest", get(r.Wait())); c.Rank() == 1 {
				begun.take()
			}
			ok(r.Start())
			for what, err := range map[string]error{"Start": r.Start(), "Startall": mpi.Startall([]mpi.Request{r}), "Cancel": r.Cancel(), "RequestFree": r.Free()} {
				want(t, what, err, mpi.ErrRequest)
			}
			if c.Rank() == 0 {
				begun.give()
			}
			if get(r.Wait()); r != was || sum[0] != 3 {
				t.Errorf("the sum is %d, and the handle another: %t", sum[0], r != was)
			}
			want(t, "Cancel at rest", r.Cancel(), mpi.ErrRequest)
			ok(r.Free())
			want(t, "Start of a freed one", was.Start(), mpi.ErrRequest)
		})
	})
}

// Requests go on when their communicator has been freed, and end with the World.
func TestPersistentCallsOutliveTheirCommunicator(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			d, sum := get(c.Dup()), []int{0}
			r, kept := get(mpi.AllreduceInit(d, mpi.Sum, []int{1}, sum)), get(d.BarrierInit())
			ok(d.Free())
			wantWords(t, "BarrierInit", second(d.BarrierInit()), mpi.ErrComm, "has been freed")
			for range 3 {
				if sum[0] = 0; startAndWait(&r) != nil || startAndWait(&kept) != nil || sum[0] != 3 {
					t.Errorf("the sum is %d", sum[0])
				}
			}
			ok(r.Free())
			ok(w.Finalize())
			want(t, "Start after Finalize", kept.Start(), mpi.ErrComm)
		}, opts...)
	})
}

// endings are how a second start ends without a result, because of rank 0: what it does
// between its start and its wait, and the class of the errors.
var endings = map[string]struct {
	class mpi.Class
	here  func(d *mpi.Comm, cancel func())
}{
	"an operator panics":        {mpi.ErrOp, nil},
	"a context ends before":     {mpi.ErrCanceled, func(_ *mpi.Comm, cancel func()) { cancel() }},
	"a context ends meanwhile":  {mpi.ErrCanceled, func(_ *mpi.Comm, cancel func()) { go cancel() }},
	"a communicator is revoked": {mpi.ErrRevoked, func(d *mpi.Comm, _ func()) { ok(d.Revoke()) }},
}

// Then all persistent calls have ended at all ranks, and each later start says so. Other
// communicators go on.
func TestAStartThatFailsEndsPersistentCalls(t *testing.T) {
	const size = 3
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for name, x := range ordered(endings) {
			t.Run(name, func(t *testing.T) {
				ended := newSignal()
				act(t, fabric, size, func(w *mpi.World, c *mpi.Comm) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					d, in, sum := get(c.Dup()), []int{1}, []int{0}
					own := d
					if c.Rank() == 0 {
						own = d.WithContext(ctx)
					}
					add := mpi.NewOp(func(a, b int) int {
						if a+b >= 100 {
							panic("no more")
						}
						return a + b
					})
					r, other := get(mpi.AllreduceInit(own, add, in, sum)), get(d.BarrierInit())
					ok(startAndWait(&other))
					if ok(startAndWait(&r)); sum[0] != size {
						t.Errorf("the sum is %d", sum[0])
					}
					ok(c.Barrier())
					switch {
					case c.Rank() > 0 && x.here != nil:
						ended.take()
					case x.here == nil:
						in[0] = 100
					}
					ok(r.Start())
					if c.Rank() == 0 && x.here != nil {
						x.here(d, cancel)
					}
					err := second(r.Wait())
					if c.Rank() == 0 && x.here != nil {
						ended.give()
						ended.give()
					}
					switch {
					case err == nil && (c.Rank() > 0 || x.here == nil): // where a start has failed, all that is needed here was sent before
					case !errors.Is(err, x.class):
						t.Errorf("rank %d: %v", c.Rank(), err)
					}
					for range 3 {
						for what, r := range map[string]*mpi.Request{"the same": &r, "another": &other} {
							if err := startAndWait(r); !errors.Is(err, x.class) {
								t.Errorf("rank %d, %s: %v", c.Rank(), what, err)
							}
						}
					}
					ok(errors.Join(r.Free(), other.Free(), c.Barrier(), d.Free()))
				}, opts...)
			})
		}
	})
}

// A rank that dies ends the starts of the others.
func TestADeathEndsPersistentCalls(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		dies := errors.New("rank 2 dies")
		err := try(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) error {
			return attempt(func() {
				d, sum := get(c.Dup()), []int{0}
				r, other := get(mpi.AllreduceInit(d, mpi.Sum, []int{1}, sum)), get(d.BarrierInit())
				if ok(startAndWait(&r)); c.Rank() == 2 {
					stop(dies)
				}
				for range 2 {
					want(t, "the start", startAndWait(&r), mpi.ErrProcFailed)
					want(t, "the other's", startAndWait(&other), mpi.ErrProcFailed)
				}
				ok(errors.Join(r.Free(), other.Free()))
			})
		})
		if !strings.Contains(fmt.Sprint(err), dies.Error()) {
			t.Errorf("the job ends with %v", err)
		}
	})
}
