package fabrictest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

func capsMakeSense(t *testing.T, h Harness) {
	r := openOnly(t, h, 2)
	d := r.nodes[0].d
	c := d.Caps()
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	r.connectAll()
	r.nodes[0].onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) {}
	r.nodes[1].onDeliver = r.nodes[0].onDeliver
	r.nodes[0].send(1, 1, 0, nil, nil)
	r.settle()
	if d.Caps() != c {
		t.Errorf("Caps changed from %+v to %+v", c, d.Caps())
	}
	countsMakeSense(t, d)
}

// countsMakeSense checks what a domain says of itself.
func countsMakeSense(t *testing.T, d fabric.Domain) {
	var s fabric.Stats
	d.Stats(&s)
	if s.Transport == "" {
		t.Error("Stats: the transport has no name")
	}
	seen := map[string]bool{}
	for _, c := range s.Counts {
		if c.Name == "" || c.Help == "" || seen[c.Name] {
			t.Errorf("Stats: want one count of each name, and what it is: %+v", c)
		}
		seen[c.Name] = true
	}
}

func exactContent(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	caps := a.d.Caps()
	var want parcel
	got := 0
	b.onDeliver = func(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
		got++
		if from != 0 || !want.equal(kind, imm, hdr, body) {
			t.Errorf("sent kind %#x imm %#x %d+%d bytes, got kind %#x imm %#x %d+%d bytes from %d; contents equal: %t, %t",
				want.kind, want.imm, len(want.hdr), len(want.body), kind, imm, len(hdr), len(body), from,
				bytes.Equal(hdr, want.hdr), bytes.Equal(body, want.body))
		}
	}
	sent := 0
	for hdrLen := 0; hdrLen <= fabric.MaxHeader; hdrLen++ {
		for _, n := range bodyLengths(caps.MaxEager) {
			want = newParcel(uint64(sent), hdrLen, n)
			a.send(1, want.kind, want.imm, want.hdr, want.body)
			sent++
			r.wait("the message", func() bool { return got == sent })
			if t.Failed() {
				return
			}
		}
	}
	r.settle()
	if got != sent {
		t.Errorf("%d messages sent, %d delivered", sent, got)
	}
}

func oneSidedConnect(t *testing.T, h Harness) {
	r := openOnly(t, h, 2)
	r.connect(0, 1)
	const count = 10
	got := uint64(0)
	r.nodes[1].onDeliver = func(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
		if imm != got || from != 0 {
			t.Errorf("message %d from %d, want %d from 0", imm, from, got)
		}
		got++
	}
	for i := range uint64(count) {
		r.nodes[0].send(1, 3, i, nil, content(i, 40))
	}
	r.wait("messages at a rank that has not connected", func() bool { return got == count })
}

func sameEndpoint(t *testing.T, h Harness) {
	r := open(t, h, 2)
	was := r.nodes[0].eps[1]
	r.connect(0, 1)
	if r.nodes[0].eps[1] != was {
		t.Error("Connect made a second endpoint to the same peer")
	}
}

func buffersReusable(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	caps := a.d.Caps()
	got, ids := uint64(0), uint64(100)
	sizes := bodyLengths(caps.MaxEager)
	hdr, body := make([]byte, fabric.MaxHeader), make([]byte, caps.MaxEager)
	b.onDeliver = func(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
		p := newParcel(imm, fabric.MaxHeader, len(body))
		if imm != got || !bytes.Equal(hdr, p.hdr) || !bytes.Equal(body, p.body) {
			t.Errorf("message %d, want %d; header intact: %t; body of %d bytes intact: %t", imm, got, bytes.Equal(hdr, p.hdr), len(body), bytes.Equal(body, p.body))
		}
		// Borrowed means that writing is no harm to anybody else either.
		got++
	}
	for id := range ids {
		p := newParcel(id, fabric.MaxHeader, sizes[int(id)%len(sizes)])
		copy(hdr, p.hdr)
		copy(body, p.body)
		a.send(1, 2, id, hdr, body[:len(p.body)])
		clear(hdr)
		clear(body)
	}
	r.wait("all messages", func() bool { return got == ids })
}

func tooLong(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a := r.nodes[0]
	caps := a.d.Caps()
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, fabric.ErrTooLong) {
			t.Errorf("%s: got %v, want ErrTooLong", what, err)
		}
	}
	longHdr, longBody := make([]byte, fabric.MaxHeader+1), make([]byte, caps.MaxEager+1)
	answer := func(hdr, body []byte) error {
		var err error
		r.wait("an answer other than ErrAgain", func() bool {
			err = a.sendOnce(1, 1, 0, hdr, body)
			return err != fabric.ErrAgain
		})
		return err
	}
	refused("header of MaxHeader+1", answer(longHdr, nil))
	refused("header of 300", answer(make([]byte, 300), nil))
	refused("body of MaxEager+1", answer(nil, longBody))
	refused("both", answer(longHdr, longBody))
	r.settle() // an event would be unexpected

	got := 0
	r.nodes[1].onDeliver = func(_ fabric.Peer, _ uint8, _ uint64, hdr, body []byte) {
		if len(hdr) != fabric.MaxHeader || len(body) != caps.MaxEager {
			t.Errorf("got %d+%d bytes, want MaxHeader and MaxEager", len(hdr), len(body))
		}
		got++
	}
	a.send(1, 1, 0, longHdr[1:], longBody[1:])
	r.wait("the longest message", func() bool { return got == 1 })
}

func sendFromDeliver(t *testing.T, h Harness) {
	r := open(t, h, 3)
	const rounds = 3000
	// Rank 0 sends to 1, 1 passes on to 2 within Deliver, 2 back to 0. What is
	// refused within Deliver waits its turn.
	var back uint64
	pass := func(n *node, to int) *[]parcel {
		var queue []parcel
		n.onDeliver = func(_ fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
			if len(queue) == 0 {
				err := n.sendOnce(to, kind, imm, hdr, body)
				if err == nil {
					return
				}
				if err != fabric.ErrAgain {
					t.Errorf("Send within Deliver: %v", err)
					return
				}
			}
			queue = append(queue, parcel{kind, imm, bytes.Clone(hdr), bytes.Clone(body)})
		}
		return &queue
	}
	q1, q2 := pass(r.nodes[1], 2), pass(r.nodes[2], 0)
	drain := func(n *node, to int, q *[]parcel) {
		for len(*q) > 0 {
			p := (*q)[0]
			err := n.sendOnce(to, p.kind, p.imm, p.hdr, p.body)
			if err == fabric.ErrAgain {
				return
			}
			if err != nil {
				t.Fatalf("Send: %v", err)
			}
			*q = (*q)[1:]
		}
	}
	max := r.nodes[0].d.Caps().MaxEager
	r.nodes[0].onDeliver = func(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
		p := mixed(back, max)
		if from != 2 || !p.equal(kind, imm, hdr, body) {
			t.Errorf("message %d came back from %d changed or out of order", back, from)
		}
		back++
	}
	idle := func() {
		r.poll()
		drain(r.nodes[1], 2, q1)
		drain(r.nodes[2], 0, q2)
	}
	for _, n := range r.nodes {
		n.idle = idle
	}
	for id := range uint64(rounds) {
		p := mixed(id, max)
		r.nodes[0].send(1, p.kind, p.imm, p.hdr, p.body)
		if t.Failed() {
			return
		}
	}
	r.wait("all messages to come round", func() bool { return back == rounds })
}

func sendToSelf(t *testing.T, h Harness) {
	if h.NoSelf {
		t.Skip("the harness says that a rank has no endpoint to itself")
	}
	r := open(t, h, 2)
	r.connect(0, 0)
	n := r.nodes[0]
	max := n.d.Caps().MaxEager
	var got uint64
	const count = 2000
	n.onDeliver = func(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
		p := mixed(got, max)
		if from != 0 || !p.equal(kind, imm, hdr, body) {
			t.Errorf("message %d from %d changed or out of order", got, from)
		}
		got++
	}
	for id := range uint64(count) {
		p := mixed(id, max)
		n.send(0, p.kind, p.imm, p.hdr, p.body)
	}
	r.wait("messages from the rank itself", func() bool { return got == count })
}
