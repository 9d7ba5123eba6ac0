package mpi_test

import (
	"errors"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A persistent request that is freed while it is active goes on to its end, like
// any other, and its slot then serves the next request.
func TestAnActivePersistentRequestIsFreed(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, way := range inits {
			if way.name == "RsendInit" {
				continue // its receives would have to be posted
			}
			for _, n := range sizes {
				freed := newSignal()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					pingpong(c, 2)
					const rounds = 40
					if c.Rank() == 0 {
						ok(w.BufferAttach(room(2 * rounds)))
						for i := range rounds {
							s := begin(way.init(c, pattern(n, i), 1, 1))
							for range i % 3 { // of several starts the last is freed
								ok(mpi.Start(s))
								get(mpi.Wait(s))
							}
							ok(mpi.Start(s))
							copied := *s
							ok(mpi.RequestFree(s))
							if !s.Null() {
								t.Fatalf("%s: RequestFree did not set the handle to null", way.name)
							}
							want(t, "Start of a freed request", mpi.Start(&copied), mpi.ErrRequest)
							want(t, "RequestFree of a freed request", mpi.RequestFree(&copied), mpi.ErrRequest)
						}
						get(mpi.Recv(c, make([]byte, 1), 1, 2))
						ok(w.BufferFlush(t.Context()))
						for _, p := range w.Pending() {
							if p.What == "send" && p.Context%2 == 0 {
								t.Errorf("%s of %d bytes: %+v is left", way.name, n, p)
							}
						}
						freed.give()
						return
					}
					in := make([]byte, n)
					for i := range rounds {
						for range i%3 + 1 {
							if get(mpi.Recv(c, in, 0, 1)); differs(in, i) >= 0 {
								t.Fatalf("%s: message %d of %d bytes has others", way.name, i, n)
							}
						}
					}
					ok(mpi.Send(c, []byte{1}, 0, 2))
					freed.take()
				}, opts...)
			}
		}
	})
}

// A receive too: what comes is received, and nobody is told.
func TestAnActivePersistentReceiveIsFreed(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, n := range sizes {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				pingpong(c, 2)
				in := make([]byte, n)
				if c.Rank() == 0 {
					r := begin(mpi.RecvInit(c, in, 1, 1))
					ok(mpi.Start(r))
					ok(mpi.RequestFree(r))
					ok(mpi.Send(c, []byte{1}, 1, 2))
					get(mpi.Recv(c, make([]byte, 1), 1, 3))
					if differs(in, 4) >= 0 {
						t.Errorf("the freed receive of %d bytes got others", n)
					}
					// One that has ended, and one at rest.
					r = begin(mpi.RecvInit(c, in, mpi.ProcNull, 1))
					ok(mpi.Start(r))
					ok(mpi.RequestFree(r))
					r = begin(mpi.RecvInit(c, in, 1, 1))
					ok(mpi.RequestFree(r))
					return
				}
				get(mpi.Recv(c, make([]byte, 1), 0, 2))
				ok(mpi.Ssend(c, pattern(n, 4), 0, 1))
				ok(mpi.Send(c, []byte{1}, 0, 3))
			}, opts...)
		}
	})
}

// Finalize ends what was freed while it was active.
func TestFinalizeEndsAFreedPersistentRequest(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			r := begin(mpi.RecvInit(c, make([]byte, 8), 1-c.Rank(), 1))
			ok(mpi.Start(r))
			ok(mpi.RequestFree(r))
			ok(w.Finalize())
		})
	})
}

// Of RequestFree and GrequestComplete the later calls free before it returns, on
// the goroutine that calls, which may do whatever it likes there: called plainly
// is written by free and read behind the call, without anything between them.
func TestFreeRunsInTheCallThatComesLast(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			stuck := errors.New("stuck")
			for _, completeFirst := range []bool{true, false} {
				for _, freeErr := range []error{nil, stuck} {
					called := 0
					r := get(mpi.GrequestStart(w, nil, func() error {
						called++
						in := []byte{0}
						q := begin(mpi.Irecv(c, in, 0, 1))
						ok(mpi.Send(c, []byte{1}, 0, 1))
						get(mpi.Wait(q))
						ok(c.Barrier())
						return freeErr
					}, nil))
					copied := r
					first, last := func() error { return mpi.GrequestComplete(copied) }, func() error { return mpi.RequestFree(&r) }
					if !completeFirst {
						first, last = last, first
					}
					ok(first())
					if called != 0 {
						t.Fatalf("complete first: %t: free was called by the first of both calls", completeFirst)
					}
					err := last()
					if called != 1 {
						t.Fatalf("complete first: %t: free was called %d times when the last of both calls returned", completeFirst, called)
					}
					if !errors.Is(err, freeErr) || freeErr == nil && err != nil {
						t.Errorf("complete first: %t: the error %v, free's was %v", completeFirst, err, freeErr)
					}
					if !r.Null() {
						t.Error("the handle is not null")
					}
				}
			}
			// A request given up is freed with the World, its operation though
			// unfinished, once.
			var g grequest
			r := g.start(w)
			copied := r
			ok(mpi.RequestFree(&r))
			ok(w.Finalize())
			g.counts(t, "Finalize", 0, 1, 0)
			want(t, "GrequestComplete", mpi.GrequestComplete(copied), mpi.ErrRequest)
		}, opts...)
	})
}

// Both calls at once: one of them is the last.
func TestFreeAndCompleteAtOnceCallFreeOnce(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			for range 300 {
				var g grequest
				r := g.start(w)
				copied := r
				join := aside(func() { ok(mpi.GrequestComplete(copied)) })
				ok(mpi.RequestFree(&r))
				join()
				g.counts(t, "both", 0, 1, 0)
			}
		})
	})
}
