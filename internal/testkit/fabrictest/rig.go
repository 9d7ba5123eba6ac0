package fabrictest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// patience is when a test calls something hung. It bounds only what must come,
// and is many times what that takes.
const patience = 5 * time.Minute

// rig is one job. Until together, all of its ranks are driven by the test's
// goroutine.
type rig struct {
	t     testing.TB
	h     Harness
	nodes []*node
}

// open makes a job of n ranks, connects each pair and waits until one message
// has passed between each.
func open(t testing.TB, h Harness, n int) *rig {
	t.Helper()
	r := openOnly(t, h, n)
	r.connectAll()
	greeted := 0
	for _, a := range r.nodes {
		a.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { greeted++ }
	}
	want := 0
	for i, a := range r.nodes {
		for j := range r.nodes {
			if i != j {
				a.send(j, 1, 0, nil, nil)
				want++
			}
		}
	}
	r.wait("first messages between all pairs", func() bool { return greeted == want })
	for _, a := range r.nodes {
		a.onDeliver = nil
	}
	return r
}

// openOnly makes a job of n ranks without connections.
func openOnly(t testing.TB, h Harness, n int) *rig {
	t.Helper()
	r := &rig{t: t, h: h}
	for i, d := range h.Open(t, n) {
		r.nodes = append(r.nodes, &node{
			t: t, d: d, rank: i, eps: make([]fabric.Endpoint, n),
			pending: map[fabric.Op]bool{}, done: map[fabric.Op]error{},
			idle: r.poll,
		})
	}
	if len(r.nodes) != n {
		t.Fatalf("harness opened %d ranks, want %d", len(r.nodes), n)
	}
	return r
}

func (r *rig) connectAll() {
	r.t.Helper()
	for i := range r.nodes {
		for j := range r.nodes {
			if i != j {
				r.connect(i, j)
			}
		}
	}
}

func (r *rig) connect(from, to int) {
	r.t.Helper()
	e, err := r.nodes[from].d.Connect(fabric.Peer(to), r.nodes[to].d.Addr())
	if err != nil {
		r.t.Fatalf("rank %d connects to %d: %v", from, to, err)
	}
	r.nodes[from].eps[to] = e
}

// poll polls every rank once.
func (r *rig) poll() {
	for _, n := range r.nodes {
		n.poll()
	}
}

// settle polls for a while after everything awaited has come, to let what must
// not come show itself.
func (r *rig) settle() {
	for range 200 {
		r.poll()
	}
}

func (r *rig) wait(what string, cond func() bool) {
	r.t.Helper()
	r.nodes[0].wait(what, cond)
}

// together runs each rank's function on a goroutine of its own. A rank whose
// function has returned is polled until all have.
func (r *rig) together(run func(n *node)) {
	r.t.Helper()
	var wg sync.WaitGroup
	var done atomic.Int32 // each Add pairs with the other goroutines' loads
	for _, n := range r.nodes {
		n.alone, n.idle = true, func() { n.poll() }
		wg.Go(func() {
			defer func() {
				done.Add(1)
				for int(done.Load()) < len(r.nodes) && !r.t.Failed() {
					n.poll()
				}
			}()
			run(n)
		})
	}
	wg.Wait()
	for _, n := range r.nodes {
		n.alone, n.idle = false, r.poll
	}
	if r.t.Failed() {
		r.t.FailNow()
	}
}

// node drives one rank and is its handler. What a test does not expect, because
// it has set no function for it, is an error.
type node struct {
	t    testing.TB
	d    fabric.Domain
	rank int
	eps  []fabric.Endpoint

	onDeliver func(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte)
	onDown    func(p fabric.Peer, err error)

	pending  map[fabric.Op]bool
	done     map[fabric.Op]error
	ops      uint64 // numbers given out
	sendings uint64 // of sendOnce

	idle   func() // what to do while waiting
	alone  bool   // on a goroutine of its own
	inPoll bool
	events int

	complaints int
}

func (n *node) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	n.event("Deliver")
	if n.onDeliver == nil {
		n.complain("rank %d: unexpected message from %d, kind %#x, imm %#x, %d+%d bytes", n.rank, from, kind, imm, len(hdr), len(body))
		return
	}
	n.onDeliver(from, kind, imm, hdr, body)
}

func (n *node) Complete(op fabric.Op, err error) {
	n.event("Complete")
	if !n.pending[op] {
		_, before := n.done[op]
		n.complain("rank %d: Complete(%#x, %v) of an operation that is not in flight; completed before: %t", n.rank, op, err, before)
		return
	}
	delete(n.pending, op)
	n.done[op] = err
}

func (n *node) PeerDown(p fabric.Peer, err error) {
	n.event("PeerDown")
	if n.onDown == nil {
		n.complain("rank %d: unexpected PeerDown(%d, %v)", n.rank, p, err)
		return
	}
	n.onDown(p, err)
}

func (n *node) event(what string) {
	n.events++
	if !n.inPoll {
		n.complain("rank %d: %s called outside Poll", n.rank, what)
	}
}

// complain is Errorf for events, of which there may be very many.
func (n *node) complain(format string, args ...any) {
	if n.complaints++; n.complaints <= 10 {
		n.t.Errorf(format, args...)
	}
}

func (n *node) poll() int {
	c := n.pollMax(64)
	runtime.Gosched()
	return c
}

func (n *node) pollMax(max int) int {
	n.inPoll, n.events = true, 0
	c := n.d.Poll(n, max)
	n.inPoll = false
	// What Poll returns includes work of its own.
	if c < n.events || n.events > max {
		n.complain("rank %d: Poll(%d) returned %d and handed over %d events", n.rank, max, c, n.events)
	}
	return c
}

// pollDry polls until nothing is there, as before sleep.
func (n *node) pollDry() {
	for n.poll() > 0 {
	}
}

// fail ends the test, or this rank's goroutine and with it the test.
func (n *node) fail(format string, args ...any) {
	n.t.Helper()
	n.t.Errorf(format, args...)
	n.stop()
}

func (n *node) stop() {
	if n.alone {
		runtime.Goexit()
	}
	n.t.FailNow()
}

// wait idles until cond holds.
func (n *node) wait(what string, cond func() bool) {
	n.t.Helper()
	if cond() {
		return
	}
	end := time.Now().Add(patience)
	for i := 1; ; i++ {
		n.idle()
		if cond() {
			return
		}
		if i%64 != 0 {
			continue
		}
		if n.alone && n.t.Failed() {
			n.stop()
		}
		if time.Now().After(end) {
			n.fail("rank %d waited %v for: %s", n.rank, patience, what)
		}
	}
}

// send sends, idling while the answer is ErrAgain.
func (n *node) send(to int, kind uint8, imm uint64, hdr, body []byte) {
	n.t.Helper()
	err := n.sendOnce(to, kind, imm, hdr, body)
	if err == nil {
		return
	}
	n.wait("Send to be accepted", func() bool {
		if err == fabric.ErrAgain {
			err = n.sendOnce(to, kind, imm, hdr, body)
		}
		return err != fabric.ErrAgain
	})
	if err != nil {
		n.fail("rank %d: Send(kind %#x, %d+%d bytes) to %d: %v", n.rank, kind, len(hdr), len(body), to, err)
	}
}

// tryOnce starts an operation under a new Op and returns the call's answer.
func (n *node) tryOnce(call func(op fabric.Op) error) (fabric.Op, error) {
	n.ops++
	// All 64 bits are the engine's, so all are in use here.
	op := fabric.Op(n.ops * 0x9e3779b97f4a7c15)
	n.pending[op] = true
	err := call(op)
	if err != nil {
		n.ops--
		delete(n.pending, op)
	}
	return op, err
}

// try is tryOnce until the answer is another than ErrAgain.
func (n *node) try(call func(op fabric.Op) error) (op fabric.Op, err error) {
	n.t.Helper()
	n.wait("an operation to be accepted", func() bool {
		op, err = n.tryOnce(call)
		return err != fabric.ErrAgain
	})
	return op, err
}

// start is try for an operation that must be accepted.
func (n *node) start(call func(op fabric.Op) error) fabric.Op {
	n.t.Helper()
	op, err := n.try(call)
	if err != nil {
		n.fail("rank %d: operation refused: %v", n.rank, err)
	}
	return op
}

// finish waits until nothing is in flight and all has gone well.
func (n *node) finish() {
	n.t.Helper()
	n.wait("operations to complete", func() bool { return len(n.pending) == 0 })
	for op, err := range n.done {
		if err != nil {
			n.fail("rank %d: Complete(%#x): %v", n.rank, op, err)
		}
	}
}

// region registers b, and keeps it alive, until the test ends: peers write to
// its address.
func (n *node) region(b []byte, a fabric.Access) fabric.Segment {
	n.t.Helper()
	r, err := n.d.Register(b, a)
	if err != nil {
		n.fail("rank %d: Register(%d bytes, %#x): %v", n.rank, len(b), a, err)
	}
	n.t.Cleanup(func() {
		if err := n.d.Deregister(r); err != nil && !errors.Is(err, fabric.ErrClosed) {
			n.t.Errorf("rank %d: Deregister: %v", n.rank, err)
		}
		runtime.KeepAlive(b)
	})
	return fabric.Segment{Bytes: b, Region: r}
}
