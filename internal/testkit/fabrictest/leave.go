package fabrictest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// The cases here have a rank leave its peers, by Close or by End, while large
// transfers into and out of its memory are under way.

func closedMemory(t *testing.T, h Harness) { leaveInFlight(t, h, onHeap, (*node).close) }

func endedMemory(t *testing.T, h Harness) {
	leaveInFlight(t, h, onHeap, endBoth)
}

func closedMapped(t *testing.T, h Harness) {
	needAlloc(t, h)
	leaveInFlight(t, h, h.Alloc, (*node).close)
}

func endedMapped(t *testing.T, h Harness) {
	needAlloc(t, h)
	leaveInFlight(t, h, h.Alloc, endBoth)
}

func onHeap(_ testing.TB, n int) []byte { return make([]byte, n) }

func needAlloc(t *testing.T, h Harness) {
	if h.Alloc == nil {
		t.Skip("there is no memory that peers map")
	}
}

// errBroken is what the engine ends a peer for.
var errBroken = &fabric.Error{Op: "receive", Err: fabric.ErrPeerDown}

// endBoth has rank 0 end ranks 1 and 2, and waits until they can do it no harm.
func endBoth(n *node) {
	left := map[fabric.Peer]bool{} // who is to be told of
	n.onDown = func(p fabric.Peer, err error) {
		if !left[p] || !errors.Is(err, fabric.ErrPeerDown) {
			n.complain("PeerDown(%d, %v), expected: %t, want ErrPeerDown", p, err, left[p])
		}
		delete(left, p)
		if p == 1 && len(n.pending) > 0 {
			n.complain("PeerDown while %d operations are in flight", len(n.pending))
		}
	}
	for p := fabric.Peer(1); p < 3; p++ {
		if n.d.End(p, errBroken) {
			left[p] = true
		}
	}
	n.wait("the end of the peers", func() bool { return len(left) == 0 && len(n.pending) == 0 })
	for p := fabric.Peer(1); p < 3; p++ {
		if n.d.End(p, errBroken) {
			n.complain("End(%d) ends a peer that is down", p)
		}
		if err := n.eps[p].Send(1, 0, nil, nil); !errors.Is(err, fabric.ErrPeerDown) {
			n.complain("Send to a peer that was ended: %v, want ErrPeerDown", err)
		}
	}
}

// leaveInFlight has rank 1 read rank 0's memory and be read by it, which it may
// help with, and rank 2 write there, until rank 0 leaves both and fills its
// memory with something else. No Get may succeed with that, and nothing may be
// written over it.
func leaveInFlight(t *testing.T, h Harness, alloc func(testing.TB, int) []byte, leave func(*node)) {
	size := 4 << 20
	if raceEnabled { // which looks at every byte that Go copies
		size = 256 << 10
	}
	spoilt := bytes.Repeat([]byte{0xee}, size)
	memory := func(id uint64) []byte {
		b := alloc(t, size)
		copy(b, content(id, size))
		return b
	}
	read, got, written, theirs, copied, source := memory(1), memory(2), memory(3), memory(4), memory(5), memory(6)
	for round := range h.rounds(20) {
		r := open(t, h, 3)
		zero, one, two := r.nodes[0], r.nodes[1], r.nodes[2]
		caps := zero.d.Caps()
		if !caps.Get && !caps.Put {
			t.Skip("neither Get nor Put is offered")
		}
		copy(read, content(1, size))
		readable := zero.region(read, fabric.RemoteRead).Region.Remote
		into := zero.region(got, fabric.LocalWrite)
		writable := zero.region(written, fabric.LocalWrite|fabric.RemoteWrite).Region.Remote
		from := one.region(theirs, fabric.RemoteRead).Region.Remote
		local := one.region(copied, fabric.LocalWrite)
		put := two.region(source, 0)
		left := newSignal()
		r.together(func(n *node) {
			if n == zero {
				n.onDown = func(fabric.Peer, error) {}
				for k := range 20 + round%7*15 { // so that it is in the middle of something else each time
					if caps.Get && k%8 == 0 && len(n.pending) < 4 {
						n.tryOnce(func(op fabric.Op) error { return n.eps[1].Get(into, from, op) })
					}
					n.poll()
				}
				leave(n)
				for _, b := range [][]byte{read, got, written} {
					copy(b, spoilt)
				}
				n.say(left)
				n.say(left)
				return
			}
			down := false
			n.onDown = func(p fabric.Peer, _ error) { down = down || p == 0 }
			var op fabric.Op
			n.wait("rank 0 to leave", func() bool {
				if n.pending[op] {
					return false
				}
				if err, over := n.done[op]; over && err == nil && n == one && !bytes.Equal(copied, content(1, size)) {
					n.fail("round %d: a Get from a rank that leaves has succeeded with other bytes", round)
				}
				delete(n.done, op)
				if down {
					return left.heard()
				}
				next, err := n.tryOnce(func(op fabric.Op) error {
					if n == one {
						return given(caps.Get, func() error { return n.eps[0].Get(local, readable, op) })
					}
					return given(caps.Put, func() error { return n.eps[0].Put(put, writable, op) })
				})
				if err == nil {
					op = next
				}
				return false
			})
		})
		r.settle()
		for what, b := range map[string][]byte{"that it was reading to": got, "that a peer was writing to": written} {
			if !bytes.Equal(b, spoilt) {
				t.Fatalf("round %d: memory %s changes after it has left", round, what)
			}
		}
	}
}
