//go:build !race

// With the race detector pools forget at random.

package capi

import (
	"testing"
	"unsafe"

	"github.com/weft-mpi/weft/mpi"
)

const int32Type = 0x250 // MPI_INT32_T

// hot is the calls of a hot loop on MPI_COMM_SELF, with arguments in memory of C's.
type hot struct {
	t                                     testing.TB
	isend, irecv, send, recv              *Args
	wait, test, waitall, testall, waitany *Args
	requests                              []uint64
}

const window = 8

func newHot(t testing.TB) *hot {
	buf, words := outside(t, 4096), outside(t, 4096)
	statuses, out := outside(t, 4096), outside(t, 4096)
	one := func(from int) *Args {
		return newArgs(t, unsafe.Add(buf, from), 1, int32Type, 0, 3, commSelf, words)
	}
	h := &hot{
		t: t, requests: unsafe.Slice((*uint64)(words), 2*window),
		isend: one(0), irecv: one(64), send: one(0), recv: one(64),
		wait:    newArgs(t, words, statuses),
		test:    newArgs(t, words, out, statuses),
		waitall: newArgs(t, 2*window, words, statuses),
		testall: newArgs(t, 2*window, words, out, statuses),
		waitany: newArgs(t, 2*window, words, out, statuses),
	}
	h.recv.words[6] = uint64(uintptr(statuses))
	for i := range h.requests {
		h.requests[i] = requestNull
	}
	return h
}

func (h *hot) call(f func(*Args) error, a *Args) {
	if err := f(a); err != nil {
		h.t.Fatal(err)
	}
}

// start is a receive or a send whose request is the one with that index.
func (h *hot) start(f func(*Args) error, a *Args, i int) {
	a.words[6] = uint64(uintptr(unsafe.Pointer(&h.requests[i])))
	h.call(f, a)
}

func (h *hot) window() {
	for i := range window {
		h.start(irecv, h.irecv, i)
	}
	for i := range window {
		h.start(isend, h.isend, window+i)
	}
}

// hotCalls are what is measured, by name.
var hotCalls = map[string]func(*hot){
	"send and recv": func(h *hot) {
		h.call(send, h.send)
		h.call(recv, h.recv)
	},
	"wait": func(h *hot) {
		h.start(irecv, h.irecv, 0)
		h.call(send, h.send)
		h.call(wait, h.wait)
	},
	"test": func(h *hot) {
		h.start(irecv, h.irecv, 0)
		h.call(test, h.test)
		h.call(send, h.send)
		for h.requests[0] != requestNull {
			h.call(test, h.test)
		}
	},
	"waitall": func(h *hot) {
		h.window()
		h.call(waitall, h.waitall)
	},
	"testall": func(h *hot) {
		h.window()
		for h.requests[0] != requestNull {
			h.call(testall, h.testall)
		}
	},
	"waitany": func(h *hot) {
		h.window()
		for range 2 * window {
			h.call(waitany, h.waitany)
		}
	},
}

// alone runs f as the only rank of a job, whose MPI_COMM_SELF has its handle.
func alone(t testing.TB, f func()) {
	err := mpi.Run(1, func(w *mpi.World) error {
		comms.put(commSelf, &comm{w.Self()}, nil)
		defer comms.drop(commSelf)
		f()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHotCallsDoNotAllocate(t *testing.T) {
	for name, f := range hotCalls {
		t.Run(name, func(t *testing.T) {
			h := newHot(t)
			alone(t, func() {
				if n := testing.AllocsPerRun(1000, func() { f(h) }); n > 0 {
					t.Errorf("%v allocations", n)
				}
			})
		})
	}
}

func BenchmarkHotCalls(b *testing.B) {
	for name, f := range hotCalls {
		b.Run(name, func(b *testing.B) {
			h := newHot(b)
			alone(b, func() {
				b.ReportAllocs()
				for b.Loop() {
					f(h)
				}
			})
		})
	}
}
