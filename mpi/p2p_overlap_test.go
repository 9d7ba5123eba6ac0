package mpi_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// compute keeps a processor busy until the flag is set, without calling the
// library.
func compute(until *atomic.Bool) {
	one := runtime.GOMAXPROCS(0) == 1
	for !until.Load() {
		if one { // the scheduler would take it away, later
			runtime.Gosched()
		}
	}
}

// starts are the ways to start a receive.
var starts = []struct {
	name  string
	start func(c *mpi.Comm, b []byte) *mpi.Request
}{
	{"Irecv", func(c *mpi.Comm, b []byte) *mpi.Request { return begin(mpi.Irecv(c, b, 0, 1)) }},
	{"RecvInit", func(c *mpi.Comm, b []byte) *mpi.Request {
		r := begin(mpi.RecvInit(c, b, mpi.AnySource, 1))
		ok(mpi.Start(r))
		return r
	}},
	{"Isendrecv", func(c *mpi.Comm, b []byte) *mpi.Request {
		return begin(mpi.Isendrecv(c, []byte{}, 0, 2, b, 0, 1))
	}},
}

const megabyte = 1 << 20

// The receiver computes until the sender says that the message is over: the
// progress thread alone fetches it.
func TestARendezvousCompletesWhileTheReceiverComputes(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, way := range starts {
			for _, n := range []int{long, megabyte} {
				sent := shared[atomic.Bool]()
				posted := newSignal()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					if c.Rank() == 0 {
						posted.take()
						ok(mpi.Ssend(c, pattern(n, 1), 1, 1))
						sent.Store(true)
						if way.name == "Isendrecv" {
							get(mpi.Recv(c, []byte{}, 1, 2))
						}
						return
					}
					in := make([]byte, n)
					r := way.start(c, in)
					posted.give()
					compute(sent)
					// Over sockets the race detector sees no order before Wait.
					if !(raceEnabled && fabric == "tcp") && differs(in, 1) >= 0 {
						t.Errorf("%s of %d bytes: the sender has completed before all is there", way.name, n)
					}
					get(mpi.Wait(r))
				})
			}
		}
	})
}

// Without the thread nothing moves as long as the receiver computes, however
// often the sender asks.
func TestWithoutTheThreadARendezvousWaitsForTheReceiver(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, way := range starts {
			for _, n := range []int{long, megabyte} {
				asked, called := shared[atomic.Bool](), shared[atomic.Bool]()
				posted := newSignal()
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					pingpong(c, 9)
					if c.Rank() == 0 {
						posted.take()
						s := begin(mpi.Isend(c, pattern(n, 1), 1, 1))
						for range 1000 {
							if ended, _, err := mpi.Test(s); ended || err != nil {
								t.Errorf("Test of %d bytes for %s = %t, %v while the receiver computes", n, way.name, ended, err)
								break
							}
						}
						asked.Store(true)
						get(mpi.Wait(s))
						if !called.Load() {
							t.Errorf("the send of %d bytes for %s completed while the receiver computed", n, way.name)
						}
						if way.name == "Isendrecv" {
							get(mpi.Recv(c, []byte{}, 1, 2))
						}
						return
					}
					settle(c)
					in := make([]byte, n)
					r := way.start(c, in)
					posted.give()
					compute(asked)
					called.Store(true)
					get(mpi.Wait(r))
					if differs(in, 1) >= 0 {
						t.Errorf("%s of %d bytes: other bytes have come", way.name, n)
					}
				}, mpi.WithoutProgressThread())
			}
		}
	})
}

// An announced message is fetched while the sender computes: with the thread, and
// without it over fabrics that read the sender's memory alone.
func TestAReceiveCompletesWhileTheSenderComputes(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		if opts != nil && !readsAlone(fabric) {
			t.Skip("the sender has a part in reading its memory")
		}
		for _, n := range []int{long, megabyte} {
			received := shared[atomic.Bool]()
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				pingpong(c, 9)
				if c.Rank() == 0 {
					s := begin(mpi.Isend(c, pattern(n, 1), 1, 1))
					compute(received)
					get(mpi.Wait(s))
					return
				}
				in := make([]byte, n)
				get(mpi.Recv(c, in, 0, 1))
				received.Store(true)
				if differs(in, 1) >= 0 {
					t.Errorf("other bytes of %d have come", n)
				}
			}, opts...)
		}
	})
}
