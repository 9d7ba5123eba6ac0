package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// inits make persistent sends.
var inits = []struct {
	name string
	init func(c *mpi.Comm, b []byte, dest, tag int) (mpi.Request, error)
}{
	{"SendInit", mpi.SendInit[byte]},
	{"SsendInit", mpi.SsendInit[byte]},
	{"RsendInit", mpi.RsendInit[byte]},
	{"BsendInit", mpi.BsendInit[byte]},
}

// Every start sends what the buffer holds then and receives into the same one.
func TestPersistentRequestsStartAgainAndAgain(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const rounds = 20
		for _, in := range inits {
			for _, n := range sizes {
				if in.name == "BsendInit" && n >= long && opts != nil && !readsAlone(fabric) {
					continue // nobody would serve the copy once Wait has returned
				}
				posted := newSignal()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					pingpong(c, 2) // connected: sends leave without further calls
					b := make([]byte, n)
					if c.Rank() == 0 {
						if in.name == "BsendInit" {
							ok(w.BufferAttach(room(rounds)))
						}
						r := begin(in.init(c, b, 1, 1))
						for i := range rounds {
							fill(b, i)
							posted.take()
							ok(mpi.Start(r))
							isEmpty(t, in.name, get(mpi.Wait(r)))
						}
						ok(mpi.RequestFree(r))
						return
					}
					r := begin(mpi.RecvInit(c, b, mpi.AnySource, mpi.AnyTag))
					for i := range rounds {
						clear(b)
						ok(mpi.Start(r))
						posted.give()
						st := get(mpi.Wait(r))
						if differs(b, i) >= 0 || st.Source != 0 || st.Tag != 1 || st.Bytes != uint64(n) {
							t.Errorf("%s, round %d of %d bytes: %+v", in.name, i, n, st)
						}
					}
					ok(mpi.RequestFree(r))
				}, opts...)
			}
		}
	})
}

func TestPersistentRequestsToOneself(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			ok(w.BufferAttach(room(4)))
			for _, way := range inits {
				for _, n := range sizes {
					out, in := make([]byte, n), make([]byte, n)
					s, r := begin(way.init(c, out, 0, 1)), begin(mpi.RecvInit(c, in, 0, 1))
					for i := range 5 {
						fill(out, i)
						ok(mpi.Startall([]mpi.Request{*r, *s}))
						sts := make([]mpi.Status, 2)
						rs := []mpi.Request{*s, *r}
						ok(mpi.Waitall(rs, sts))
						if rs[0] != *s || rs[1] != *r {
							t.Fatalf("%s: Waitall changed the handles of persistent requests", way.name)
						}
						if differs(in, i) >= 0 || sts[1].Bytes != uint64(n) || sts[1].Source != 0 {
							t.Errorf("%s: start %d of %d bytes: %+v", way.name, i, n, sts)
						}
					}
					ok(mpi.RequestFree(s))
					ok(mpi.RequestFree(r))
				}
			}
		})
	})
}

// Starts, and plain sends between them, match in the order they were made, and
// so do receives.
func TestPersistentAndPlainOperationsKeepOneOrder(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const each, rounds = 6, 10
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			bufs := make([][]byte, each)
			persistent := make([]mpi.Request, each)
			for i := range bufs {
				n := 4 + sizes[i%len(sizes)]
				bufs[i] = make([]byte, n)
				if i%2 == 0 {
					continue
				}
				if c.Rank() == 0 {
					persistent[i] = get(mpi.SendInit(c, bufs[i], 1, 1))
				} else {
					persistent[i] = get(mpi.RecvInit(c, bufs[i], 0, 1))
				}
			}
			for round := range rounds {
				rs := make([]mpi.Request, each)
				for i, b := range bufs {
					switch rs[i] = persistent[i]; {
					case c.Rank() == 0 && i%2 == 0:
						fill(b, round*each+i)
						rs[i] = get(mpi.Isend(c, b, 1, 1))
					case c.Rank() == 0:
						fill(b, round*each+i)
						ok(mpi.Start(&rs[i]))
					case i%2 == 0:
						rs[i] = get(mpi.Irecv(c, b, 0, 1))
					default:
						ok(mpi.Start(&rs[i]))
					}
				}
				ok(mpi.Waitall(rs, nil))
				for i, b := range bufs {
					if c.Rank() == 1 && differs(b, round*each+i) >= 0 {
						stop(fmt.Errorf("round %d: receive %d got another's message", round, i))
					}
				}
			}
		}, opts...)
	})
}

func TestInactiveRequestsCountAsNull(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			s, r := begin(mpi.SendInit(c, []byte{5}, 0, 1)), begin(mpi.RecvInit(c, make([]byte, 1), 0, 1))
			check := func(when string) {
				t.Helper()
				kept := [2]mpi.Request{*s, *r}
				rs := kept[:]
				sts := make([]mpi.Status, 2)
				indices := make([]int, 2)
				isEmpty(t, when+", Wait", get(mpi.Wait(r)))
				ended, st, err := mpi.Test(r)
				if !ended || err != nil {
					t.Errorf("%s, Test = %t, %v", when, ended, err)
				}
				isEmpty(t, when+", Test", st)
				if ended, st, err = mpi.RequestStatus(*r); !ended || err != nil {
					t.Errorf("%s, RequestStatus = %t, %v", when, ended, err)
				}
				isEmpty(t, when+", RequestStatus", st)
				sts[0].Bytes, sts[1].Source = 7, 7
				ok(mpi.Waitall(rs, sts))
				isEmpty(t, when+", Waitall", sts[0])
				isEmpty(t, when+", Waitall", sts[1])
				sts[1].Source = 7
				if ended, err := mpi.Testall(rs, sts); !ended || err != nil {
					t.Errorf("%s, Testall = %t, %v", when, ended, err)
				}
				isEmpty(t, when+", Testall", sts[1])
				i, st, err := mpi.Waitany(rs)
				if i != mpi.Undefined || err != nil {
					t.Errorf("%s, Waitany = %d, %v", when, i, err)
				}
				isEmpty(t, when+", Waitany", st)
				ended, i, st, err = mpi.Testany(rs)
				if !ended || i != mpi.Undefined || err != nil {
					t.Errorf("%s, Testany = %t, %d, %v", when, ended, i, err)
				}
				isEmpty(t, when+", Testany", st)
				if n, err := mpi.Waitsome(rs, indices, sts); n != mpi.Undefined || err != nil {
					t.Errorf("%s, Waitsome = %d, %v", when, n, err)
				}
				if n, err := mpi.Testsome(rs, indices, nil); n != mpi.Undefined || err != nil {
					t.Errorf("%s, Testsome = %d, %v", when, n, err)
				}
				if kept != [2]mpi.Request{*s, *r} || r.Null() || s.Null() {
					t.Errorf("%s: handles were changed", when)
				}
			}
			check("before the first start")
			ok(mpi.Start(s))
			ok(mpi.Start(r))
			ok(mpi.Waitall([]mpi.Request{*s, *r}, nil))
			check("after a start")

			// Beside an active request they are passed over.
			plain := get(mpi.Irecv(c, make([]byte, 1), 0, 2))
			ok(mpi.Send(c, []byte{1}, 0, 2))
			rs := []mpi.Request{*s, {}, plain, *r}
			if i, _, err := mpi.Waitany(rs); i != 2 || err != nil {
				t.Errorf("Waitany = %d, %v; request 2 is active", i, err)
			}
			ok(mpi.RequestFree(s))
			ok(mpi.RequestFree(r))
			if !s.Null() || !r.Null() {
				t.Error("RequestFree did not set the handle to null")
			}
		})
	})
}

func TestAnActivePersistentRequestIsNotStarted(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			in := make([]byte, 1)
			r := begin(mpi.RecvInit(c, in, 0, 1))
			started, freed, waited := *r, *r, *r
			ok(mpi.Start(r))
			refused := func(when string) {
				t.Helper()
				was := *r
				want(t, when+", Start", mpi.Start(r), mpi.ErrRequest)
				want(t, when+", Startall", mpi.Startall([]mpi.Request{*r}), mpi.ErrRequest)
				if *r != was {
					t.Error(when + ": the handle was changed")
				}
			}
			refused("no message")
			ok(mpi.Send(c, []byte{4}, 0, 1))
			refused("completed, not waited for")
			get(mpi.Wait(r))
			if in[0] != 4 {
				t.Errorf("got %d", in[0])
			}
			ok(mpi.RequestFree(r))

			want(t, "Start of a freed request", mpi.Start(&started), mpi.ErrRequest)
			want(t, "RequestFree of a freed request", mpi.RequestFree(&freed), mpi.ErrRequest)
			_, err := mpi.Wait(&waited)
			want(t, "Wait for a freed request", err, mpi.ErrRequest)
			want(t, "Start of a null request", mpi.Start(new(mpi.Request)), mpi.ErrRequest)
			want(t, "RequestFree of a null request", mpi.RequestFree(new(mpi.Request)), mpi.ErrRequest)
			plain := begin(mpi.Irecv(c, in, 0, 1))
			want(t, "Start of a plain request", mpi.Start(plain), mpi.ErrRequest)
			ok(mpi.Send(c, []byte{4}, 0, 1))
			get(mpi.Wait(plain))

			// Startall stops where it can't go on; what it has started is under way.
			a, b := begin(mpi.SendInit(c, []byte{1}, 0, 2)), begin(mpi.SendInit(c, []byte{2}, 0, 2))
			want(t, "Startall", mpi.Startall([]mpi.Request{*a, {}, *b}), mpi.ErrRequest)
			get(mpi.Wait(a))
			get(mpi.Recv(c, in, 0, 2))
			if there, _, _ := mpi.Iprobe(c, 0, 2); there || in[0] != 1 {
				t.Error("Startall went on behind the request it could not start")
			}
			ok(mpi.RequestFree(a))
			ok(mpi.RequestFree(b))
		})
	})
}

func TestPersistentRequestsOfNoProcess(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			in := []byte{77}
			r := begin(mpi.RecvInit(c, in, mpi.ProcNull, mpi.AnyTag))
			for _, way := range inits {
				s := begin(way.init(c, make([]byte, long), mpi.ProcNull, 1))
				for range 3 {
					ok(mpi.Startall([]mpi.Request{*s, *r}))
					get(mpi.Wait(s))
					if st := get(mpi.Wait(r)); st.Source != mpi.ProcNull || st.Tag != mpi.AnyTag || st.Bytes != 0 || in[0] != 77 {
						t.Errorf("%s: a receive from nobody: %+v", way.name, st)
					}
				}
				ok(mpi.RequestFree(s))
			}
			ok(mpi.RequestFree(r))
		})
	})
}

// The allocations of both ranks count: they are goroutines of this process.
func TestPersistentMessagesUpTo8KBAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const rounds = 300
	onEach(t, func(t *testing.T, fabric string) {
		for _, way := range inits {
			for _, n := range []int{0, 8, 64, 1024, 8000} {
				t.Run(fmt.Sprintf("%s/%d", way.name, n), func(t *testing.T) {
					act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
						if way.name == "BsendInit" {
							ok(w.BufferAttach(make([]byte, 1<<20)))
						}
						other := 1 - c.Rank()
						c = w.Comm()
						in := begin(mpi.RecvInit(c, make([]byte, n), other, 1))
						out := begin(way.init(c, make([]byte, n), other, 1))
						rs := []mpi.Request{*in, *out}
						var err error
						round := func() error {
							// A receive is posted before the message it answers is sent.
							if c.Rank() == 0 && err == nil {
								err = mpi.Startall(rs)
							}
							if c.Rank() == 1 && err == nil {
								_, err = mpi.Wait(in)
								if e := mpi.Start(in); err == nil {
									err = e
								}
								if e := mpi.Start(out); err == nil {
									err = e
								}
							} else if err == nil {
								_, err = mpi.Wait(in)
							}
							if _, e := mpi.Wait(out); err == nil {
								err = e
							}
							return err
						}
						if c.Rank() == 1 {
							ok(mpi.Start(in))
						}
						ok(c.Barrier())
						ok(steady(t, c, "a message each way", rounds, round))
						if c.Rank() == 1 {
							ok(mpi.Cancel(in))
							get(mpi.Wait(in))
						}
					})
				})
			}
		}
	})
}
