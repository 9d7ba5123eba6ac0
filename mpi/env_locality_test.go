package mpi_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// procedure is a row of the table that locality is tested from (MPI-4.0 §2.4.2:
// a procedure is local if its return does not depend on calls of other ranks).
// Rank 1 calls, rank 0 is its partner.
type procedure struct {
	name   string
	thread bool // depends on the partner's progress thread, though not on its calls

	both   func(p *party) // of both, first
	before func(p *party) // of the partner, before it parks outside of the library
	call   func(p *party) // of the caller
	act    func(p *party) // of the partner, in the end: what a non-local call waits for
}

// party is a rank of the test.
type party struct {
	w     *mpi.World
	c     *mpi.Comm
	other int
	rs    []mpi.Request // completed in the end
	size  int
	in    []byte
	spare *mpi.Comm
}

func (p *party) later(r mpi.Request, err error) {
	ok(err)
	p.rs = append(p.rs, r)
}

func (p *party) out() []byte { return pattern(p.size, 1) }

// room has the caller attach memory.
func (p *party) room() { ok(p.w.BufferAttach(room(4))) }

// recv and send are the usual parts of the partner.
func recv(p *party) { get(mpi.Recv(p.c, p.in, p.other, 1)) }
func send(p *party) { ok(mpi.Send(p.c, p.out(), p.other, 1)) }

func post(p *party)  { p.later(mpi.Irecv(p.c, p.in, p.other, 1)) }
func offer(p *party) { p.later(mpi.Isend(p.c, p.out(), p.other, 1)) }

// not checks for the answer of a call that must find nothing done.
func not(done bool, err error) {
	ok(err)
	if done {
		stop(fmt.Errorf("it has completed without the partner"))
	}
}

var local = []procedure{
	{name: "Bsend", act: recv, call: func(p *party) {
		p.room()
		ok(mpi.Bsend(p.c, p.out(), p.other, 1))
	}},
	{name: "Ibsend and its Wait", act: recv, call: func(p *party) {
		p.room()
		get(mpi.Wait(begin(mpi.Ibsend(p.c, p.out(), p.other, 1))))
	}},
	{name: "BsendInit, Start and its Wait", act: recv, call: func(p *party) {
		p.room()
		r := begin(mpi.BsendInit(p.c, p.out(), p.other, 1))
		ok(mpi.Start(r))
		get(mpi.Wait(r))
		ok(mpi.RequestFree(r))
	}},
	{name: "BufferIflush", act: recv, call: func(p *party) {
		p.room()
		ok(mpi.Bsend(p.c, p.out(), p.other, 1))
		p.later(p.w.BufferIflush())
	}},
	{name: "Isend", act: recv, call: func(p *party) { p.later(mpi.Isend(p.c, p.out(), p.other, 1)) }},
	{name: "Issend and a Test in vain", act: recv, call: func(p *party) {
		r := begin(mpi.Issend(p.c, p.out(), p.other, 1))
		ended, _, err := mpi.Test(r)
		not(ended, err)
		p.later(*r, nil)
	}},
	{name: "Irecv and all tests in vain", act: send, call: func(p *party) {
		rs := []mpi.Request{get(mpi.Irecv(p.c, p.in, p.other, 1))}
		ended, _, err := mpi.Test(&rs[0])
		not(ended, err)
		ended, _, _, err = mpi.Testany(rs)
		not(ended, err)
		ended, err = mpi.Testall(rs, nil)
		not(ended, err)
		n, err := mpi.Testsome(rs, make([]int, 1), nil)
		not(n != 0, err)
		ended, _, err = mpi.RequestStatus(rs[0])
		not(ended, err)
		p.later(rs[0], nil)
	}},
	{name: "Irecv and RequestFree", act: send, call: func(p *party) {
		ok(mpi.RequestFree(begin(mpi.Irecv(p.c, p.in, p.other, 1))))
	}},
	{name: "Irecv and OnComplete", act: send, call: func(p *party) {
		ok(mpi.OnComplete(begin(mpi.Irecv(p.c, p.in, p.other, 1)), func(mpi.Status, error) {}))
	}},
	{name: "Irecv, Cancel and its Wait", call: func(p *party) {
		r := begin(mpi.Irecv(p.c, p.in, p.other, 1))
		ok(mpi.Cancel(r))
		get(mpi.Wait(r))
	}},
	{name: "RecvInit, Start, Cancel, its Wait and RequestFree", call: func(p *party) {
		r := begin(mpi.RecvInit(p.c, p.in, p.other, 1))
		ok(mpi.Start(r))
		ok(mpi.Cancel(r))
		if st := get(mpi.Wait(r)); !st.Cancelled {
			stop(fmt.Errorf("a receive of nothing: %+v", st))
		}
		ok(mpi.RequestFree(r))
	}},
	{name: "all tests of what has ended", thread: true, before: offer, call: func(p *party) {
		rs := []mpi.Request{get(mpi.Irecv(p.c, p.in, p.other, 1))}
		for start := time.Now(); ; runtime.Gosched() {
			if ended, _, err := mpi.RequestStatus(rs[0]); err != nil || ended {
				ok(err)
				break
			}
			if time.Since(start) > patience {
				stop(fmt.Errorf("the message does not come"))
			}
		}
		made := func() mpi.Request {
			r := get(mpi.GrequestStart(p.w, nil, nil, nil))
			ok(mpi.GrequestComplete(r))
			return r
		}
		is := func(done bool, err error) {
			ok(err)
			if !done {
				stop(fmt.Errorf("a test finds nothing done"))
			}
		}
		is(mpi.Testall(append(rs, made()), nil))
		ended, _, _, err := mpi.Testany([]mpi.Request{made()})
		is(ended, err)
		n, err := mpi.Testsome([]mpi.Request{made()}, make([]int, 1), nil)
		is(n == 1, err)
		r := made()
		ended, _, err = mpi.Test(&r)
		is(ended, err)
	}},
	{name: "Issend, Cancel and its Wait", thread: true, call: func(p *party) {
		r := begin(mpi.Issend(p.c, p.out(), p.other, 1))
		ok(mpi.Cancel(r))
		if st := get(mpi.Wait(r)); !st.Cancelled {
			stop(fmt.Errorf("a send that nobody has received: %+v", st))
		}
	}},
	{name: "Isendrecv and IsendrecvReplace", call: func(p *party) {
		p.later(mpi.Isendrecv(p.c, p.out(), p.other, 1, p.in, p.other, 1))
		p.later(mpi.IsendrecvReplace(p.c, p.out(), p.other, 1, p.other, 1))
	}, act: func(p *party) {
		for range 2 {
			get(mpi.Sendrecv(p.c, p.out(), p.other, 1, p.in, p.other, 1))
		}
	}},
	{name: "SendInit, RecvInit, Startall, then RequestFree of others", act: func(p *party) { recv(p); send(p) },
		call: func(p *party) {
			s, r := begin(mpi.SendInit(p.c, p.out(), p.other, 1)), begin(mpi.RecvInit(p.c, p.in, p.other, 1))
			ok(mpi.Startall([]mpi.Request{*s, *r}))
			p.rs = append(p.rs, *s, *r)
			ok(mpi.RequestFree(begin(mpi.SsendInit(p.c, p.out(), p.other, 1))))
			ok(mpi.RequestFree(begin(mpi.RecvInit(p.c, p.in, p.other, 1))))
		}},
	{name: "RequestFree of an active persistent receive", act: send, call: func(p *party) {
		r := begin(mpi.RecvInit(p.c, p.in, p.other, 1))
		ok(mpi.Start(r))
		ok(mpi.RequestFree(r))
	}},
	{name: "Rsend", thread: true, before: post, call: func(p *party) { ok(mpi.Rsend(p.c, p.out(), p.other, 1)) }},
	{name: "Irsend and its Wait", thread: true, before: post, call: func(p *party) {
		get(mpi.Wait(begin(mpi.Irsend(p.c, p.out(), p.other, 1))))
	}},
	{name: "RsendInit, Start and its Wait", thread: true, before: post, call: func(p *party) {
		r := begin(mpi.RsendInit(p.c, p.out(), p.other, 1))
		ok(mpi.Start(r))
		get(mpi.Wait(r))
	}},
	{name: "Iprobe and Improbe in vain", call: func(p *party) {
		there, _, err := mpi.Iprobe(p.c, p.other, mpi.AnyTag)
		not(there, err)
		there, _, _, err = mpi.Improbe(p.c, mpi.AnySource, 1)
		not(there, err)
	}},
	{name: "Mrecv of a probed message", before: offer, call: func(p *party) {
		m, _, err := mpi.Mprobe(p.c, p.other, 1)
		ok(err)
		get(mpi.Mrecv(&m, p.in))
	}},
	{name: "Imrecv of a probed message and its Wait", before: offer, call: func(p *party) {
		m, _, err := mpi.Mprobe(p.c, p.other, 1)
		ok(err)
		get(mpi.Wait(begin(mpi.Imrecv(&m, p.in))))
	}},
	{name: "GrequestStart, Cancel, GrequestComplete and its Wait", call: func(p *party) {
		r := get(mpi.GrequestStart(p.w, nil, nil, nil))
		ok(mpi.Cancel(&r))
		ok(mpi.GrequestComplete(r))
		get(mpi.Wait(&r))
	}},
	{name: "every wait for null requests", call: func(p *party) {
		rs := make([]mpi.Request, 3)
		get(mpi.Wait(&rs[0]))
		ok(mpi.Waitall(rs, nil))
		_, _, err := mpi.Waitany(rs)
		ok(err)
		get(mpi.Waitsome(rs, make([]int, 3), nil))
	}},
	{name: "all that is about nobody", call: func(p *party) {
		ok(mpi.Ssend(p.c, p.out(), mpi.ProcNull, 1))
		get(mpi.Recv(p.c, p.in, mpi.ProcNull, 1))
		get(mpi.Sendrecv(p.c, p.out(), mpi.ProcNull, 1, p.in, mpi.ProcNull, 1))
		get(mpi.Probe(p.c, mpi.ProcNull, 1))
	}},
	{name: "BufferAttach, BufferFlush and BufferDetach of unused memory", call: func(p *party) {
		ok(p.c.BufferAttach(room(1)))
		ok(p.c.BufferFlush())
		get(p.c.BufferDetach())
		get(p.c.BufferDetach()) // of none
	}},
	{name: "Comm.Free", both: func(p *party) { p.spare = get(p.c.Dup()) }, call: func(p *party) { ok(p.spare.Free()) }},
}

var nonlocal = []procedure{
	{name: "Ssend", act: recv, call: func(p *party) { ok(mpi.Ssend(p.c, p.out(), p.other, 1)) }},
	{name: "Recv", act: send, call: func(p *party) { get(mpi.Recv(p.c, p.in, p.other, 1)) }},
	{name: "Wait for an Issend", act: recv, call: func(p *party) {
		get(mpi.Wait(begin(mpi.Issend(p.c, p.out(), p.other, 1))))
	}},
	{name: "Wait for an Irecv", act: send, call: func(p *party) { get(mpi.Wait(begin(mpi.Irecv(p.c, p.in, p.other, 1)))) }},
	{name: "Wait for an SsendInit", act: recv, call: func(p *party) {
		r := begin(mpi.SsendInit(p.c, p.out(), p.other, 1))
		ok(mpi.Start(r))
		get(mpi.Wait(r))
	}},
	{name: "Wait for a RecvInit", act: send, call: func(p *party) {
		r := begin(mpi.RecvInit(p.c, p.in, p.other, 1))
		ok(mpi.Start(r))
		get(mpi.Wait(r))
	}},
	{name: "Waitall", act: recv, call: func(p *party) {
		ok(mpi.Waitall([]mpi.Request{{}, get(mpi.Issend(p.c, p.out(), p.other, 1))}, nil))
	}},
	{name: "Waitany", act: send, call: func(p *party) {
		_, _, err := mpi.Waitany([]mpi.Request{{}, get(mpi.Irecv(p.c, p.in, p.other, 1))})
		ok(err)
	}},
	{name: "Waitsome", act: send, call: func(p *party) {
		get(mpi.Waitsome([]mpi.Request{{}, get(mpi.Irecv(p.c, p.in, p.other, 1))}, make([]int, 2), nil))
	}},
	{name: "Probe", act: send, call: func(p *party) { get(mpi.Probe(p.c, p.other, 1)); recv(p) }},
	{name: "Mprobe", act: send, call: func(p *party) {
		m, _, err := mpi.Mprobe(p.c, p.other, 1)
		ok(err)
		get(mpi.Mrecv(&m, p.in))
	}},
	{name: "Sendrecv", act: exchange, call: exchange},
	{name: "SendrecvReplace", act: exchange, call: func(p *party) { get(mpi.SendrecvReplace(p.c, p.out(), p.other, 1, p.other, 1)) }},
	{name: "Wait for an Isendrecv", act: exchange, call: func(p *party) {
		get(mpi.Wait(begin(mpi.Isendrecv(p.c, p.out(), p.other, 1, p.in, p.other, 1))))
	}},
	{name: "Barrier", act: func(p *party) { ok(p.c.Barrier()) }, call: func(p *party) { ok(p.c.Barrier()) }},
	{name: "Dup", act: func(p *party) { get(p.c.Dup()) }, call: func(p *party) { get(p.c.Dup()) }},
	{name: "Finalize", act: func(p *party) { ok(p.w.Finalize()) }, call: func(p *party) { ok(p.w.Finalize()) }},
}

func exchange(p *party) { get(mpi.Sendrecv(p.c, p.out(), p.other, 1, p.in, p.other, 1)) }

// announced are those that are non-local with messages that wait at the sender.
var announced = []procedure{
	{name: "Send", act: recv, call: func(p *party) { ok(mpi.Send(p.c, p.out(), p.other, 1)) }},
	{name: "Wait for an Isend", act: recv, call: func(p *party) {
		get(mpi.Wait(begin(mpi.Isend(p.c, p.out(), p.other, 1))))
	}},
	{name: "BufferFlush", act: recv, call: func(p *party) {
		p.room()
		ok(mpi.Bsend(p.c, p.out(), p.other, 1))
		ok(p.w.BufferFlush(context.Background()))
	}},
	{name: "BufferDetach", act: recv, call: func(p *party) {
		p.room()
		ok(mpi.Bsend(p.c, p.out(), p.other, 1))
		get(p.w.BufferDetach(context.Background()))
	}},
}

// The partner is parked on a Go channel, outside of the library. In one variant
// the way to it is full of messages that it has not received.
func TestLocalProceduresReturnWithNobodyTakingPart(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, proc := range local {
			for _, full := range []bool{false, true} {
				for _, n := range []int{8, long} {
					thread := proc.thread || proc.before != nil && !readsAlone(fabric)
					if thread && opts != nil && (n == long || proc.before == nil) {
						continue // without the thread all progress is the application's
					}
					if testing.Short() && full != (n == 8) {
						continue
					}
					if full && proc.before != nil {
						continue // such a call is about what has come, or goes to a posted receive
					}
					parked, returned := newSignal(), newSignal()
					name := fmt.Sprintf("%s, %d bytes, full=%t", proc.name, n, full)
					act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
						pingpong(c, 9)
						p := &party{w: w, c: c, other: 1 - c.Rank(), size: n, in: make([]byte, n)}
						const fill = 300
						if proc.both != nil {
							proc.both(p)
						}
						if c.Rank() == 0 {
							if proc.before != nil {
								proc.before(p)
							}
							parked.give()
							returned.take()
							if proc.act != nil {
								proc.act(p)
							}
							for range fill {
								if full {
									get(mpi.Recv(c, make([]byte, 4000), 1, 7))
								}
							}
							ok(mpi.Waitall(p.rs, nil))
							return
						}
						parked.take()
						var rs []mpi.Request
						for range fill {
							if full {
								rs = append(rs, get(mpi.Isend(c, make([]byte, 4000), 0, 7)))
							}
						}
						if err := attempt(func() { proc.call(p) }); err != nil {
							t.Errorf("%s: %v", name, err)
						}
						returned.give()
						ok(mpi.Waitall(p.rs, nil))
						ok(mpi.Waitall(rs, nil))
					}, opts...)
				}
			}
		}
	})
}

// What the partner writes before it acts is seen by whoever returns after that.
func TestNonlocalProceduresReturnOnceTheirPartnerHasActed(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		check := func(proc procedure, n int) {
			acted := shared[atomic.Bool]()
			called := newSignal()
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				pingpong(c, 9)
				p := &party{w: w, c: c, other: 1 - c.Rank(), size: n, in: make([]byte, n)}
				if c.Rank() == 0 {
					called.take()
					for range 100 {
						runtime.Gosched()
					}
					acted.Store(true)
					proc.act(p)
					return
				}
				called.give()
				proc.call(p)
				if !acted.Load() {
					t.Errorf("%s of %d bytes returned before its partner had done anything", proc.name, n)
				}
			}, opts...)
		}
		for _, proc := range nonlocal {
			check(proc, 8)
			check(proc, long)
		}
		for _, proc := range announced {
			check(proc, long)
		}
	})
}
