package fabrictest

import (
	"runtime"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

func fullPeerEmpty(t *testing.T, h Harness)   { fullPeer(t, h, 0) }
func fullPeerLargest(t *testing.T, h Harness) { fullPeer(t, h, 1<<30) }

// fullPeer sends to a peer that does not poll until it is full, three times.
func fullPeer(t *testing.T, h Harness, size int) {
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	size = min(size, a.d.Caps().MaxEager)
	var sent, got uint64
	b.onDeliver = func(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
		if p := newParcel(got, 16, size); !p.equal(kind, imm, hdr, body) {
			t.Errorf("message %d is changed or out of order", got)
		}
		got++
	}
	send := func() bool {
		p := newParcel(sent, 16, size)
		err := a.sendOnce(1, p.kind, p.imm, p.hdr, p.body)
		if err == nil {
			sent++
			return true
		}
		if err != fabric.ErrAgain {
			t.Fatalf("Send to a full peer: %v, want ErrAgain bare", err)
		}
		return false
	}
	for range 3 {
		for start := sent; ; {
			if full(a, send) {
				break
			}
			if (sent-start)*uint64(size+24) > 1<<30 {
				t.Fatalf("%d messages of %d bytes accepted for a peer that does not poll", sent-start, size)
			}
		}
		for more := sent + 500; sent < more; {
			if !send() {
				before := got
				r.wait("a full peer that polls to hand something over", func() bool { return got > before || send() })
			}
			if t.Failed() {
				return
			}
		}
		r.wait("every accepted message", func() bool { return got == sent })
	}
	r.settle()
	if got != sent {
		t.Errorf("%d messages accepted, %d delivered", sent, got)
	}
}

// full sends once; it reports true when Send is refused for as long as it may
// reasonably be without the peer's doing. Only n is polled meanwhile.
func full(n *node, send func() bool) bool {
	for range 1000 {
		if send() {
			return false
		}
		n.poll()
	}
	return true
}

func manyLaps(t *testing.T, h Harness) {
	r := open(t, h, 2)
	const count = 20000
	max := r.nodes[0].d.Caps().MaxEager
	r.together(func(n *node) {
		if n.rank == 0 {
			n.stream(1, count, max)
			return
		}
		got := n.expect(max)
		n.wait("the stream from rank 0", func() bool { return (*got)[0] == count })
	})
}

func bothDirections(t *testing.T, h Harness) {
	r := open(t, h, 2)
	hammer(r, 10000)
}

func allToAll(t *testing.T, h Harness) {
	r := open(t, h, 5)
	hammer(r, 2000)
}

// hammer lets every rank stream count messages to every other.
func hammer(r *rig, count uint64) {
	max := r.nodes[0].d.Caps().MaxEager
	r.together(func(n *node) {
		got := n.expect(max)
		next := make([]uint64, len(n.eps))
		for busy := true; busy; {
			busy = false
			for to, e := range n.eps {
				// A few at a time, so that the streams mingle.
				for k := 0; e != nil && k < 8 && next[to] < count; k++ {
					busy = true
					p := mixed(streamID(n.rank, to, next[to]), max)
					err := n.sendOnce(to, p.kind, p.imm, p.hdr, p.body)
					if err == fabric.ErrAgain {
						break
					}
					if err != nil {
						n.fail("rank %d sends to %d: %v", n.rank, to, err)
					}
					next[to]++
				}
			}
			n.poll()
			if n.t.Failed() {
				n.stop()
			}
		}
		n.wait("the streams of all peers", func() bool {
			for from := range n.eps {
				if from != n.rank && (*got)[from] != count {
					return false
				}
			}
			return true
		})
	})
}

func streamID(from, to int, i uint64) uint64 { return uint64(from)<<40 | uint64(to)<<32 | i }

// stream sends count mixed messages.
func (n *node) stream(to int, count uint64, maxEager int) {
	for i := range count {
		p := mixed(streamID(n.rank, to, i), maxEager)
		n.send(to, p.kind, p.imm, p.hdr, p.body)
	}
}

// expect checks what arrives against the peers' streams and counts it by peer.
func (n *node) expect(maxEager int) *[]uint64 {
	got := make([]uint64, len(n.eps))
	n.onDeliver = func(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
		if int(from) >= len(got) {
			n.t.Errorf("message from rank %d, which does not exist", from)
			return
		}
		p := mixed(streamID(int(from), n.rank, got[from]), maxEager)
		if !p.equal(kind, imm, hdr, body) {
			n.t.Errorf("rank %d: message %d from %d is changed or out of order", n.rank, got[from], from)
		}
		got[from]++
	}
	return &got
}

func pollMax(t *testing.T, h Harness) {
	r := open(t, h, 3)
	got := 0
	c := r.nodes[2]
	c.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { got++ }
	sent := 0
	for from, n := range r.nodes[:2] {
		// Only the sender polls, so that messages gather, if there is room.
		for range 20 {
			if full(n, func() bool { return n.eps[2].Send(1, uint64(from), nil, nil) == nil }) {
				break
			}
			sent++
		}
	}
	for i := 0; got < sent; i++ {
		before := got
		r.wait("Poll with a small max to hand something over", func() bool {
			r.nodes[0].poll()
			r.nodes[1].poll()
			if c.pollMax(0); got != before {
				t.Fatal("Poll(0) handed something over")
			}
			c.pollMax(1 + i%3)
			return got > before // the node checks that max holds
		})
	}
	r.settle()
	if got != sent {
		t.Errorf("%d messages delivered, want %d", got, sent)
	}
}

func noAllocation(t *testing.T, h Harness) {
	if raceEnabled {
		t.Skip("allocations are not counted under the race detector")
	}
	if h.Allocates {
		t.Skip("the transport allocates")
	}
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	caps := a.d.Caps()
	got := 0
	b.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { got++ }
	hdr := make([]byte, fabric.MaxHeader)
	for _, size := range []int{0, 8, 48, 49, 512, 2047} {
		body := make([]byte, min(size, caps.MaxEager))
		once := func() {
			for want := got + 1; got < want; {
				err := a.eps[1].Send(1, 2, hdr, body)
				for err == nil && got < want {
					r.poll()
				}
				if err == fabric.ErrAgain {
					r.poll()
				} else if err != nil {
					t.Fatalf("Send: %v", err)
				}
			}
		}
		for range 4096 { // until every slot has been in use
			once()
		}
		if avg := testing.AllocsPerRun(1000, once); avg != 0 {
			t.Errorf("Send and Poll of %d bytes: %v allocations", len(body), avg)
		}
	}

	body := make([]byte, min(1024, caps.MaxEager))
	sent := got
	send := func() bool {
		if a.eps[1].Send(1, 2, hdr, body) == nil {
			sent++
			return true
		}
		return false
	}
	for !full(a, send) {
		runtime.Gosched()
	}
	if avg := testing.AllocsPerRun(1000, func() { send() }); avg != 0 {
		t.Errorf("Send answering ErrAgain: %v allocations", avg)
	}
	if avg := testing.AllocsPerRun(1000, func() { a.poll() }); avg != 0 {
		t.Errorf("Poll that finds nothing: %v allocations", avg)
	}
	r.wait("the queued messages", func() bool { return got == sent })
}
