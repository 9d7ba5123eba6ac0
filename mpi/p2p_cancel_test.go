package mpi_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestACancelledReceiveTakesNoMessage(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, source := range []int{0, 1, mpi.AnySource} {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				if c.Rank() == 1 {
					get(mpi.Recv(c, make([]byte, 1), 0, 2))
					ok(mpi.Send(c, []byte{5}, 0, 1))
					return
				}
				unused, in := []byte{77}, []byte{0}
				plain := begin(mpi.Irecv(c, unused, source, 1))
				again := begin(mpi.RecvInit(c, unused, source, 1))
				for range 3 {
					ok(mpi.Start(again))
					ok(mpi.Cancel(again))
					ok(mpi.Cancel(again)) // once more changes nothing
					if st := get(mpi.Wait(again)); !st.Cancelled {
						t.Errorf("a persistent receive from %d: %+v after Cancel", source, st)
					}
				}
				ok(mpi.Cancel(plain))
				copied := *plain
				if st := get(mpi.Wait(plain)); !st.Cancelled || !plain.Null() {
					t.Errorf("a receive from %d: %+v after Cancel", source, st)
				}
				want(t, "Cancel of a freed request", mpi.Cancel(&copied), mpi.ErrRequest)
				want(t, "Cancel of an inactive request", mpi.Cancel(again), mpi.ErrRequest)
				want(t, "Cancel of a null request", mpi.Cancel(plain), mpi.ErrRequest)
				ok(mpi.RequestFree(again))
				ok(mpi.Send(c, []byte{1}, 1, 2))
				if st := get(mpi.Recv(c, in, 1, 1)); in[0] != 5 || unused[0] != 77 || st.Cancelled {
					t.Errorf("the next receive got %d, the cancelled ones %d", in[0], unused[0])
				}
			}, opts...)
		}
	})
}

// Every call that completes requests tells that one was cancelled.
func TestEveryCompletionTellsOfACancel(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			for name, complete := range completions {
				r := get(mpi.Irecv(c, make([]byte, 1), 0, 1))
				ok(mpi.Cancel(&r))
				ended, st, err := mpi.RequestStatus(r)
				if !ended || !st.Cancelled || err != nil {
					t.Errorf("RequestStatus = %t, %+v, %v", ended, st, err)
				}
				if st, err := complete(&r); err != nil || !st.Cancelled || !r.Null() {
					t.Errorf("%s: %+v, %v; the handle is null: %t", name, st, err, r.Null())
				}
			}
			rs := []mpi.Request{get(mpi.Irecv(c, make([]byte, 1), 0, 1))}
			ok(mpi.Cancel(&rs[0]))
			ok(mpi.Waitall(rs, nil))
		})
	})
}

// A message that has been matched is not taken back.
func TestCancelOfWhatIsMatchedChangesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range sizes {
			act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
				in := make([]byte, n)
				r, s := begin(mpi.Irecv(c, in, 0, 1)), begin(mpi.Issend(c, pattern(n, 1), 0, 1))
				ok(mpi.Cancel(r))
				ok(mpi.Cancel(s))
				st := get(mpi.Wait(r))
				if st.Cancelled || st.Bytes != uint64(n) || differs(in, 1) >= 0 {
					t.Errorf("the receive of %d bytes: %+v", n, st)
				}
				if st := get(mpi.Wait(s)); st.Cancelled {
					t.Errorf("the send of %d bytes: %+v", n, st)
				}

				// A matched probe counts too.
				s = begin(mpi.Issend(c, pattern(n, 2), 0, 1))
				m, _, err := mpi.Mprobe(c, 0, 1)
				ok(err)
				ok(mpi.Cancel(s))
				get(mpi.Mrecv(&m, in))
				if st := get(mpi.Wait(s)); st.Cancelled || differs(in, 2) >= 0 {
					t.Errorf("the send of %d bytes: %+v", n, st)
				}
			})
		}
	})
}

// A send is asked back from a rank whose application does not call: that the
// progress thread answers is what makes Wait local.
func TestACancelledSendIsNeverReceived(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for dest := range 2 {
			for _, n := range sizes {
				over := newSignal()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					pingpong(c, 2)
					if c.Rank() == 0 {
						s := begin(mpi.Issend(c, pattern(n, 1), dest, 1))
						p := begin(mpi.SsendInit(c, pattern(n, 2), dest, 1))
						ok(mpi.Start(p))
						ok(mpi.Cancel(s))
						ok(mpi.Cancel(s))
						if st := get(mpi.Wait(s)); !st.Cancelled {
							t.Errorf("Issend of %d bytes to %d: %+v after Cancel", n, dest, st)
						}
						for range 3 {
							ok(mpi.Cancel(p))
							if st := get(mpi.Wait(p)); !st.Cancelled {
								t.Errorf("SsendInit of %d bytes to %d: %+v after Cancel", n, dest, st)
							}
							ok(mpi.Start(p))
						}
						if n == long { // announced
							s := begin(mpi.Isend(c, pattern(n, 1), dest, 1))
							ok(mpi.Cancel(s))
							if st := get(mpi.Wait(s)); !st.Cancelled {
								t.Errorf("Isend of %d bytes to %d: %+v after Cancel", n, dest, st)
							}
						}
						over.give()
						defer func() { get(mpi.Wait(p)) }()
					}
					if c.Rank() == dest {
						over.take()
						in := make([]byte, n)
						if get(mpi.Recv(c, in, 0, 1)); differs(in, 2) >= 0 {
							t.Errorf("a cancelled message of %d bytes has been received", n)
						}
						if there, _, err := mpi.Iprobe(c, 0, 1); there || err != nil {
							t.Errorf("Iprobe = %t, %v: a cancelled message is there", there, err)
						}
					}
				})
			}
		}
	})
}

// Sends and receives are cancelled while they meet: a send that says it was
// cancelled has not been received, any other has, once and in order.
func TestASendIsEitherCancelledOrReceived(t *testing.T) {
	rounds := 400
	if raceEnabled || testing.Short() {
		rounds = 100
	}
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		cancelled, received := shared[atomic.Int64](), shared[atomic.Int64]()
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			const window = 8
			if c.Rank() == 1 {
				in := make([]byte, long)
				last := int32(-1)
				r := begin(mpi.RecvInit(c, in, 0, mpi.AnyTag))
				for i := 0; ; i++ {
					dawdle(c, i)
					ok(mpi.Start(r))
					if i%5 == 0 {
						ok(mpi.Cancel(r))
					}
					st := get(mpi.Wait(r))
					if st.Cancelled {
						continue
					}
					if st.Tag == 0 {
						break
					}
					if received.Add(1); int32(st.Tag) <= last || differs(in[:st.Bytes], st.Tag) >= 0 {
						stop(fmt.Errorf("message %d came behind %d, or with other bytes", st.Tag, last))
					}
					last = int32(st.Tag)
				}
				ok(mpi.RequestFree(r))
				return
			}
			tag := 1
			for range rounds {
				rs := make([]mpi.Request, window)
				for i := range rs {
					b := pattern(sizes[tag%len(sizes)], tag)
					if tag%2 == 0 {
						rs[i] = get(mpi.Isend(c, b, 1, tag))
					} else {
						rs[i] = get(mpi.Issend(c, b, 1, tag))
					}
					tag++
				}
				for i := range rs {
					if (i+tag)%3 > 0 {
						ok(mpi.Cancel(&rs[i]))
					}
				}
				sts := make([]mpi.Status, window)
				ok(mpi.Waitall(rs, sts))
				for i, st := range sts {
					if st.Cancelled {
						cancelled.Add(1)
						if (i+tag)%3 == 0 {
							stop(fmt.Errorf("a send nobody has cancelled was: %+v", st))
						}
					}
				}
			}
			ok(mpi.Send(c, []byte{}, 1, 0))
		}, opts...)
		if sent := int64(8*rounds) - cancelled.Load(); sent != received.Load() {
			t.Errorf("%d sends were not cancelled and %d messages received", sent, received.Load())
		}
		t.Logf("%d cancelled, %d received", cancelled.Load(), received.Load())
	})
}

// The answer to an earlier Cancel may come when the request has been started
// and cancelled anew.
func TestAPersistentSendIsCancelledInEveryStart(t *testing.T) {
	rounds := 1500
	if raceEnabled || testing.Short() {
		rounds = 300
	}
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, n := range []int{8, long} {
			cancelled, received := shared[atomic.Int64](), shared[atomic.Int64]()
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				if c.Rank() == 1 {
					in := make([]byte, n)
					for i := 0; ; i++ {
						dawdle(c, i)
						st := get(mpi.Recv(c, in, 0, mpi.AnyTag))
						if st.Tag == 2 {
							return
						}
						received.Add(1)
					}
				}
				r := begin(mpi.SsendInit(c, pattern(n, 1), 1, 1))
				for i := range rounds {
					ok(mpi.Start(r))
					for range i % 4 * 50 {
						if ended, _, err := mpi.RequestStatus(*r); ended || err != nil {
							ok(err)
							break
						}
					}
					ok(mpi.Cancel(r))
					if st := get(mpi.Wait(r)); st.Cancelled {
						cancelled.Add(1)
					}
				}
				ok(mpi.Send(c, []byte{}, 1, 2))
			}, opts...)
			if cancelled.Load()+received.Load() != int64(rounds) {
				t.Errorf("of %d starts %d were cancelled and %d received", rounds, cancelled.Load(), received.Load())
			}
			t.Logf("%d bytes: %d cancelled, %d received", n, cancelled.Load(), received.Load())
		}
	})
}

// dawdle takes messages in for a while, which nobody receives meanwhile.
func dawdle(c *mpi.Comm, i int) {
	const nobodys = mpi.TagUB
	for range i * i % 7 * 5 {
		_, _, err := mpi.Iprobe(c, mpi.AnySource, nobodys)
		ok(err)
	}
}

// A send that waits for its receiver is asked back when its context ends.
func TestASendIsAskedBackWhenItsContextEnds(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for dest := range 2 {
			over := newSignal()
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				pingpong(c, 2)
				if c.Rank() == 0 {
					for _, n := range sizes {
						ctx, cancel := context.WithCancel(t.Context())
						go cancel()
						want(t, "Ssend", mpi.Ssend(c.WithContext(ctx), pattern(n, 1), dest, 1), mpi.ErrCanceled)
						r := begin(mpi.Issend(c.WithContext(ctx), pattern(n, 1), dest, 1))
						_, err := mpi.Wait(r)
						want(t, "Wait for an Issend", err, mpi.ErrCanceled)
					}
					ctx, cancel := context.WithCancel(t.Context())
					go cancel()
					want(t, "Send", mpi.Send(c.WithContext(ctx), pattern(long, 1), dest, 1), mpi.ErrCanceled)
					over.give()
				}
				if c.Rank() == dest {
					over.take()
					if there, st, err := mpi.Iprobe(c, 0, 1); there || err != nil {
						t.Errorf("Iprobe = %t, %+v, %v: an abandoned message is there", there, st, err)
					}
				}
			})
		}
	})
}

// Without progress threads Wait after Cancel is local too, but for a send whose
// message the receiver has been told of: that takes the receiver's next call, or
// one that it is blocked in.
func TestWaitAfterCancelWithoutAThreadTakesTheReceiversNextCall(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range sizes {
			for _, blocked := range []bool{false, true} {
				outside, enter, over := newSignal(), newSignal(), newSignal()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					pingpong(c, 2)
					if c.Rank() == 1 {
						settle(c)
						join := func() {}
						if blocked {
							join = aside(func() { get(mpi.Recv(c, make([]byte, 1), 0, 3)) })
						}
						outside.give()
						if !blocked {
							enter.take()
						}
						if there, _, err := mpi.Iprobe(c, 0, 1); err != nil {
							t.Errorf("Iprobe = %t, %v", there, err)
						}
						over.take()
						join()
						if there, st, err := mpi.Iprobe(c, 0, 1); there || err != nil {
							t.Errorf("Iprobe = %t, %+v, %v: a cancelled message is there", there, st, err)
						}
						return
					}
					outside.take()
					// A receive never needs another rank.
					r := begin(mpi.Irecv(c, make([]byte, n), 1, 1))
					ok(mpi.Cancel(r))
					if st := get(mpi.Wait(r)); !st.Cancelled {
						t.Errorf("a receive of %d bytes: %+v after Cancel", n, st)
					}
					s := begin(mpi.Issend(c, pattern(n, 1), 1, 1))
					ok(mpi.Cancel(s))
					if !blocked {
						for range 200 {
							if ended, st, err := mpi.RequestStatus(*s); ended || err != nil {
								t.Fatalf("Issend of %d bytes has ended without the receiver: %+v, %v", n, st, err)
							}
						}
						enter.give()
					}
					if st := get(mpi.Wait(s)); !st.Cancelled {
						t.Errorf("Issend of %d bytes: %+v after Cancel", n, st)
					}
					if blocked {
						ok(mpi.Send(c, []byte{1}, 1, 3))
					}
					over.give()
				}, mpi.WithoutProgressThread())
			}
		}
	})
}
