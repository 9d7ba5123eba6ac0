package fabrictest

import (
	"errors"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

func closeWakes(t *testing.T, h Harness) {
	for range 20 {
		r := openOnly(t, h, 1)
		d := r.nodes[0].d
		if err := d.Arm(fabric.WakeAll); err != nil {
			t.Fatalf("Arm: %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- d.Close() }()
		err := within(t, "Wait during Close", func() error {
			for {
				if err := d.Wait(0); err != nil {
					return err
				}
			}
		})
		if !errors.Is(err, fabric.ErrClosed) {
			t.Errorf("Wait during Close: %v, want ErrClosed", err)
		}
		if err := <-done; err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func afterClose(t *testing.T, h Harness) {
	r := open(t, h, 3)
	a := r.nodes[0]
	caps := a.d.Caps()
	reg, err := a.d.Register(make([]byte, 64), fabric.LocalWrite)
	if err != nil {
		t.Fatalf("Register: %v", err)
	}
	seg := fabric.Segment{Bytes: make([]byte, 64), Region: reg}
	remote := r.nodes[1].region(make([]byte, 64), fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic).Region.Remote
	addr := r.nodes[1].d.Addr()
	if err := a.d.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	var result uint64
	for _, c := range []struct {
		name    string
		offered bool
		call    func() error
	}{
		{"Connect", true, func() error { _, err := a.d.Connect(1, addr); return err }},
		{"Register", true, func() error { _, err := a.d.Register(make([]byte, 64), 0); return err }},
		{"Arm", true, func() error { return a.d.Arm(fabric.WakeAll) }},
		{"Wait", true, func() error { return a.d.Wait(0) }},
		{"Wait with a timeout", true, func() error { return a.d.Wait(time.Hour) }},
		{"Send", true, func() error { return a.eps[1].Send(1, 0, nil, nil) }},
		{"Flush", true, func() error { return a.eps[1].Flush(1) }},
		{"Put", caps.Put, func() error { return a.eps[1].Put(seg, remote, 1) }},
		{"Get", caps.Get, func() error { return a.eps[1].Get(seg, remote, 1) }},
		{"Atomic", caps.Atomics, func() error {
			return a.eps[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Result: &result}, remote, 1)
		}},
	} {
		if !c.offered {
			continue
		}
		if err := within(t, c.name+" after Close", c.call); !errors.Is(err, fabric.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", c.name, err)
		}
	}
	a.d.Wake()
	a.d.Disarm()
	if a.poll(); a.events != 0 {
		t.Errorf("Poll after Close: %d events, want 0", a.events)
	}

	// The others go on.
	got := 0
	for _, n := range r.nodes[1:] {
		n.onDown = func(p fabric.Peer, err error) {
			if p != 0 {
				t.Errorf("rank %d: PeerDown(%d, %v)", n.rank, p, err)
			}
		}
		n.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { got++ }
	}
	for range 100 {
		r.nodes[1].send(2, 1, 0, nil, content(1, 16))
		r.nodes[2].send(1, 1, 0, nil, content(1, 16))
	}
	r.wait("messages between ranks that are not closed", func() bool { return got == 200 })
}

// closeInFlight closes a domain whose buffers are lent and whose peer is busy
// with it. The race detector is the judge: after Close nobody touches them.
func closeInFlight(t *testing.T, h Harness) {
	for round := range h.rounds(40) {
		r := open(t, h, 2)
		caps := r.nodes[0].d.Caps()
		lent := make([]byte, caps.MaxEager)
		read := make([]byte, 1<<18)
		seg := r.nodes[0].region(lent, 0)
		remote := r.nodes[0].region(read, fabric.RemoteRead).Region.Remote
		mine := r.nodes[1].region(make([]byte, len(read)), fabric.LocalWrite)
		theirs := r.nodes[1].region(make([]byte, len(lent)), fabric.LocalWrite|fabric.RemoteWrite).Region.Remote
		closed := newSignal()
		r.together(func(n *node) {
			n.count()
			n.onDown = func(fabric.Peer, error) {}
			if n.rank == 0 {
				for k := 0; k < 20 && caps.Put; k++ {
					n.start(func(op fabric.Op) error { return n.eps[1].Put(seg, theirs, op) })
				}
				if err := n.d.Close(); err != nil {
					n.fail("Close: %v", err)
				}
				for i := range lent { // the caller's again
					lent[i]++
				}
				for i := range read {
					read[i]++
				}
				n.say(closed)
				return
			}
			n.wait("the other rank to close", func() bool {
				if caps.Get && round%2 == 0 { // else it is all messages
					// Whatever the answer, nothing of it may disturb.
					n.tryOnce(func(op fabric.Op) error { return n.eps[0].Get(mine, remote, op) })
				}
				return closed.heard()
			})
		})
	}
}

func peerDown(t *testing.T, h Harness) {
	if h.Kill == nil {
		t.Skip("the transport can't kill a rank of this process")
	}
	for range h.rounds(10) {
		endOne(t, h, func(n *node) { h.Kill(t, fabric.Peer(n.rank)) })
	}
}

func peerClosed(t *testing.T, h Harness) {
	for range 3 {
		endOne(t, h, (*node).close)
	}
}

func (n *node) close() {
	if err := n.d.Close(); err != nil {
		n.t.Errorf("Close: %v", err)
	}
}

func sentBeforeClose(t *testing.T, h Harness) {
	for range 5 {
		r := open(t, h, 3)
		sent, got, downs := make([]int, 3), make([]int, 3), make([]int, 3)
		for i, n := range r.nodes[1:] {
			i++
			n.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) {
				if got[i]++; downs[i] > 0 {
					t.Errorf("rank %d: a message after PeerDown", i)
				}
			}
			n.onDown = func(fabric.Peer, error) { downs[i]++ }
		}
		for i := 1; i < 3; i++ {
			for range 40 {
				if r.nodes[0].eps[i].Send(1, 0, nil, content(1, 16)) == nil {
					sent[i]++
				}
			}
		}
		r.nodes[0].close()
		r.nodes[0].idle = func() { r.nodes[1].poll(); r.nodes[2].poll() }
		r.wait("PeerDown at both", func() bool { return downs[1] > 0 && downs[2] > 0 })
		if got[1] != sent[1] || got[2] != sent[2] || sent[1] == 0 || sent[2] == 0 {
			t.Errorf("%v messages have come of %v", got, sent)
		}
	}
}

// sentAndClosed has ranks that meet while one of them leaves already.
func sentAndClosed(t *testing.T, h Harness) {
	for range h.rounds(20) {
		r := openOnly(t, h, 2)
		got, down := 0, false
		r.nodes[1].onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { got++ }
		r.nodes[1].onDown = func(fabric.Peer, error) { down = true }
		r.connectAll()
		r.together(func(n *node) {
			if n.rank == 1 {
				n.wait("PeerDown", func() bool { return down })
				return
			}
			n.wait("room", func() bool { return n.eps[1].Send(1, 0, nil, nil) == nil })
			n.close()
		})
		if got != 1 {
			t.Fatalf("%d messages have come before PeerDown, want 1", got)
		}
	}
}

// getFromClosed has a rank read what a message names whose sender has closed
// and uses its memory for something else.
func getFromClosed(t *testing.T, h Harness) {
	for _, n := range []int{1 << 10, 16 << 10, 256 << 10} {
		r := open(t, h, 2)
		a, b := r.nodes[0], r.nodes[1]
		if !b.d.Caps().Get {
			t.Skip("there is no Get")
		}
		theirs := content(1, n)
		remote := a.region(theirs, fabric.RemoteRead).Region.Remote
		local := b.region(make([]byte, n), fabric.LocalWrite)
		begun, down := false, false
		const op = 7
		b.onDown = func(fabric.Peer, error) { down = true }
		b.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) {
			b.pending[op] = true
			if begun = b.eps[0].Get(local, remote, op) == nil; !begun {
				delete(b.pending, op)
			}
		}
		a.wait("room", func() bool { return a.eps[1].Send(1, 0, nil, nil) == nil })
		a.close()
		copy(theirs, content(2, n))
		a.idle = func() { b.poll() }
		a.wait("PeerDown", func() bool { return down })
		if err, ended := b.done[op]; begun && (!ended || !errors.Is(err, fabric.ErrPeerDown)) {
			t.Errorf("a Get of %d bytes: ended %t with %v, want ErrPeerDown", n, ended, err)
		}
	}
}

// endOne ends rank 2 of 3 while the others have operations with it.
func endOne(t *testing.T, h Harness, end func(*node)) {
	r := open(t, h, 3)
	caps := r.nodes[0].d.Caps()
	const dead = 2
	target := r.nodes[dead].region(make([]byte, 4096), fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic).Region.Remote
	downs := make([]int, 2)
	var segs []fabric.Segment
	for i, n := range r.nodes[:2] {
		n.onDown = func(p fabric.Peer, err error) {
			downs[i]++
			if p != dead || !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("rank %d: PeerDown(%d, %v), want rank %d and ErrPeerDown", i, p, err, dead)
			}
			if len(n.pending) > 0 {
				t.Errorf("rank %d: PeerDown while %d operations are in flight", i, len(n.pending))
			}
		}
		seg := n.region(make([]byte, min(512, caps.MaxEager)), fabric.LocalWrite)
		segs = append(segs, seg)
		// As much as the peer, which does not poll, has room for.
		e := n.eps[dead]
		result := new(uint64)
		short := fabric.Remote{Addr: target.Addr, Len: uint64(len(seg.Bytes)), Key: target.Key}
		for range 5 {
			for _, c := range []struct {
				offered bool
				call    func(op fabric.Op) error
			}{
				{caps.Get, func(op fabric.Op) error { return e.Get(seg, short, op) }},
				{caps.Put, func(op fabric.Op) error { return e.Put(seg, short, op) }},
				{caps.Atomics, func(op fabric.Op) error {
					return e.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: result}, target, op)
				}},
				{true, e.Flush},
			} {
				if c.offered {
					full(n, func() bool { _, err := n.tryOnce(c.call); return err == nil })
				}
			}
			full(n, func() bool { return e.Send(1, 0, nil, nil) == nil })
		}
	}
	end(r.nodes[dead])
	turn := 0
	poll := func() {
		for _, n := range r.nodes[:2] {
			turn++
			n.pollMax(1 + turn%3) // so that the end comes in several Polls
		}
	}
	got := make([]int, 2)
	for i, n := range r.nodes[:2] {
		n.idle = poll
		n.onDeliver = func(from fabric.Peer, _ uint8, _ uint64, _, _ []byte) {
			if from == dead {
				t.Errorf("rank %d: a message from a rank that sent none", i)
			}
			got[i]++
		}
	}
	r.wait("PeerDown at both survivors", func() bool { return downs[0] > 0 && downs[1] > 0 })
	for i, n := range r.nodes[:2] {
		for op, err := range n.done {
			if err != nil && !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("rank %d: Complete(%#x, %v), want nil or ErrPeerDown", i, op, err)
			}
		}
		e := n.eps[dead]
		var result uint64
		for name, err := range map[string]error{
			"Send":   e.Send(1, 0, nil, nil),
			"Get":    given(caps.Get, func() error { return e.Get(segs[i], target, 1) }),
			"Put":    given(caps.Put, func() error { return e.Put(segs[i], target, 1) }),
			"Flush":  e.Flush(1),
			"Atomic": given(caps.Atomics, func() error { return e.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Result: &result}, target, 1) }),
		} {
			if !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("rank %d: %s after PeerDown: %v, want ErrPeerDown", i, name, err)
			}
		}
	}
	for range 100 {
		r.nodes[0].send(1, 1, 0, nil, content(1, 16))
		r.nodes[1].send(0, 1, 0, nil, content(1, 16))
	}
	r.wait("messages between survivors", func() bool { return got[0] == 100 && got[1] == 100 })
	for range 200 {
		poll()
	}
	if downs[0] != 1 || downs[1] != 1 {
		t.Errorf("PeerDown was called %v times, want once at each", downs)
	}
}

// given is the answer of an operation that is offered, else the error that the
// case wants.
func given(offered bool, call func() error) error {
	if !offered {
		return fabric.ErrPeerDown
	}
	return call()
}

func peerDownWakes(t *testing.T, h Harness) {
	if h.Kill == nil {
		t.Skip("the transport can't kill a rank of this process")
	}
	endWakes(t, h, func(n *node) { h.Kill(t, fabric.Peer(n.rank)) })
}

func closedWakes(t *testing.T, h Harness) { endWakes(t, h, (*node).close) }

func endWakes(t *testing.T, h Harness, end func(*node)) {
	r := open(t, h, 2)
	n := r.nodes[0]
	down := 0
	n.onDown = func(fabric.Peer, error) { down++ }
	if err := n.d.Arm(fabric.WakeUrgent); err != nil {
		t.Fatalf("Arm: %v", err)
	}
	n.pollDry()
	ended := make(chan struct{})
	go func() { end(r.nodes[1]); close(ended) }()
	n.sleepUntil(fabric.WakeUrgent, "the death of a peer", func() bool { return down == 1 })
	<-ended
}
