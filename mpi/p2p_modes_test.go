package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// ssends are the ways to send synchronously.
var ssends = []struct {
	name string
	send func(c *mpi.Comm, b []byte, dest, tag int)
}{
	{"Ssend", func(c *mpi.Comm, b []byte, dest, tag int) { ok(mpi.Ssend(c, b, dest, tag)) }},
	{"Issend", func(c *mpi.Comm, b []byte, dest, tag int) {
		get(mpi.Wait(begin(mpi.Issend(c, b, dest, tag))))
	}},
	{"SsendInit", func(c *mpi.Comm, b []byte, dest, tag int) {
		r := begin(mpi.SsendInit(c, b, dest, tag))
		ok(mpi.Start(r))
		get(mpi.Wait(r))
		ok(mpi.RequestFree(r))
	}},
}

// The message has come, a Probe has seen it, and messages have gone back and
// forth since: still the send may not return before the receive.
func TestASynchronousSendReturnsOnlyOnceItsReceiveHasBegun(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, s := range ssends {
			for _, n := range sizes {
				begun := shared[atomic.Bool]()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					if c.Rank() == 0 {
						join := aside(func() { pingpong(c, 2) })
						s.send(c, pattern(n, n), 1, 1)
						if !begun.Load() {
							t.Errorf("%s of %d bytes returned before the receive had begun", s.name, n)
						}
						join()
						return
					}
					st := get(mpi.Probe(c, 0, 1))
					pingpong(c, 2)
					in := make([]byte, n)
					begun.Store(true)
					get(mpi.Recv(c, in, 0, 1))
					if differs(in, n) >= 0 || st.Bytes != uint64(n) {
						t.Errorf("%s of %d bytes: came as %+v", s.name, n, st)
					}
				}, opts...)
			}
		}
	})
}

func TestIssendCompletesWithItsReceiveInBothOrders(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, n := range sizes {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				in := make([]byte, n)
				if c.Rank() == 1 {
					get(mpi.Probe(c, 0, 1))
					pingpong(c, 2)
					get(mpi.Recv(c, in, 0, 1))
					r := begin(mpi.Irecv(c, in, 0, 3))
					pingpong(c, 2)
					get(mpi.Wait(r))
					return
				}
				late := begin(mpi.Issend(c, pattern(n, 1), 1, 1))
				pingpong(c, 2)
				get(mpi.Wait(late))
				pingpong(c, 2)
				get(mpi.Wait(begin(mpi.Issend(c, pattern(n, 1), 1, 3))))
			}, opts...)

			// The receiver says that it has not begun while Test says the same.
			asked, told := newSignal(), newSignal()
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				pingpong(c, 2) // connected: the message leaves without further calls
				if c.Rank() == 1 {
					get(mpi.Probe(c, 0, 1))
					told.give()
					asked.take()
					get(mpi.Recv(c, make([]byte, n), 0, 1))
					return
				}
				r := begin(mpi.Issend(c, pattern(n, 1), 1, 1))
				told.take()
				if ended, _, err := mpi.Test(r); ended || err != nil {
					t.Errorf("Test of an Issend of %d bytes before its receive = %t, %v", n, ended, err)
				}
				asked.give()
				get(mpi.Wait(r))
			}, opts...)
		}
	})
}

func TestASynchronousSendToOneselfEndsWithTheReceive(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range sizes {
			act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
				in := make([]byte, n)
				s := begin(mpi.Issend(c, pattern(n, 5), 0, 1))
				if ended, _, err := mpi.Test(s); ended || err != nil {
					t.Errorf("Test of %d bytes = %t, %v before the receive", n, ended, err)
				}
				get(mpi.Recv(c, in, 0, 1))
				if ended, _, err := mpi.Test(s); !ended || err != nil || differs(in, 5) >= 0 {
					t.Errorf("Test of %d bytes = %t, %v after the receive", n, ended, err)
				}
				r := begin(mpi.Irecv(c, in, 0, 2))
				ok(mpi.Ssend(c, pattern(n, 6), 0, 2))
				get(mpi.Wait(r))
				if differs(in, 6) >= 0 {
					t.Errorf("Ssend of %d bytes: other bytes have come", n)
				}
			})
		}
	})
}

// rsends are the ways to send in ready mode.
var rsends = []struct {
	name string
	send func(c *mpi.Comm, b []byte, dest, tag int) error
}{
	{"Rsend", func(c *mpi.Comm, b []byte, dest, tag int) error { return mpi.Rsend(c, b, dest, tag) }},
	{"Irsend", func(c *mpi.Comm, b []byte, dest, tag int) error {
		_, err := mpi.Wait(begin(mpi.Irsend(c, b, dest, tag)))
		return err
	}},
	{"RsendInit", func(c *mpi.Comm, b []byte, dest, tag int) error {
		r := begin(mpi.RsendInit(c, b, dest, tag))
		ok(mpi.Start(r))
		_, err := mpi.Wait(r)
		ok(mpi.RequestFree(r))
		return err
	}},
}

func TestAReadySendFindsItsReceive(t *testing.T) {
	var log logged
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		posted := newSignal()
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			for _, s := range rsends {
				for _, n := range sizes {
					if c.Rank() == 0 {
						posted.take()
						ok(s.send(c, pattern(n, n), 1, 1))
						r := begin(mpi.Irecv(c, make([]byte, n), 0, 2))
						ok(s.send(c, pattern(n, n), 0, 2))
						get(mpi.Wait(r))
						continue
					}
					in := make([]byte, n)
					r := begin(mpi.Irecv(c, in, 0, 1))
					posted.give()
					if st := get(mpi.Wait(r)); differs(in, n) >= 0 || st.Bytes != uint64(n) {
						t.Errorf("%s of %d bytes came as %+v", s.name, n, st)
					}
				}
			}
		}, append(opts, mpi.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))...)
	})
	if log.String() != "" {
		t.Errorf("ready sends in time were reported:\n%s", log.String())
	}
}

// Nothing is lost of a ready send that comes too early; it is reported, and a
// sender that has to wait for the receiver is told.
func TestAReadySendBeforeItsReceiveIsKeptAndReported(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, self := range []bool{false, true} {
			for _, s := range rsends {
				for _, n := range sizes {
					var log logged
					reported := shared[atomic.Bool]()
					act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
						dest := 1
						if self {
							dest = 0
						}
						join := func() {}
						if c.Rank() == 0 {
							join = aside(func() {
								err := s.send(c, pattern(n, n), dest, 1)
								if n == 100_000 {
									want(t, s.name, err, mpi.ErrOther)
									if !errors.Is(err, mpi.ErrNotReady) {
										t.Errorf("%s of %d bytes: %v, want ErrNotReady", s.name, n, err)
									}
								} else if err != nil && !errors.Is(err, mpi.ErrNotReady) {
									t.Errorf("%s of %d bytes: %v", s.name, n, err)
								}
							})
						}
						if c.Rank() == dest {
							in := make([]byte, n)
							get(mpi.Probe(c, 0, 1))
							if st := get(mpi.Recv(c, in, 0, 1)); differs(in, n) >= 0 || st.Bytes != uint64(n) {
								t.Errorf("%s of %d bytes came as %+v", s.name, n, st)
							}
						}
						join()
						if c.Rank() == dest && log.await("ready send") {
							reported.Store(true)
						}
					}, mpi.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
					if !reported.Load() {
						t.Errorf("%s of %d bytes to self=%t was not reported: %q", s.name, n, self, log.String())
					}
				}
			}
		}
	})
}

// logged collects what the library logs.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

// await waits for a record, which the logger's goroutine hands on.
func (l *logged) await(word string) bool {
	for end := time.Now().Add(patience); !strings.Contains(l.String(), word); runtime.Gosched() {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Every mode in one stream: messages overtake one another in none.
func TestModesKeepOneOrder(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const many = 300
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			size := func(i int) int { return 4 + sizes[(i*i+i/7)%len(sizes)] }
			if c.Rank() == 1 {
				for i := range many {
					in := make([]byte, size(i))
					st := get(mpi.Recv(c, in, 0, 1))
					if st.Bytes != uint64(len(in)) || differs(in, i) >= 0 {
						stop(fmt.Errorf("message %d of %d bytes came as %+v", i, len(in), st))
					}
				}
				return
			}
			ok(w.BufferAttach(make([]byte, many*200_000)))
			var rs []mpi.Request
			for i := range many {
				b := pattern(size(i), i)
				switch i % 3 {
				case 0:
					rs = append(rs, get(mpi.Isend(c, b, 1, 1)))
				case 1:
					rs = append(rs, get(mpi.Issend(c, b, 1, 1)))
				case 2:
					ok(mpi.Bsend(c, b, 1, 1))
				}
			}
			ok(mpi.Waitall(rs, nil))
			get(w.BufferDetach(context.Background()))
		}, opts...)
	})
}
