package fabrictest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// lengths of one-sided transfers: around words, lines, pages and the blocks
// that a transport may cut at.
var lengths = []int{1, 3, 7, 8, 9, 63, 64, 65, 100, 1023, 4095, 4096, 4097, 8191, 65535, 65536, 65537, 1 << 20, 4<<20 + 3}

// margin is how many bytes on either side of a target are watched.
const margin = 128

// framed makes n bytes of room with a watched margin on either side.
func framed(n int) (all, inner []byte) {
	all = make([]byte, n+2*margin)
	for i := range all {
		all[i] = 0xc5
	}
	return all, all[margin : margin+n : margin+n]
}

// marginsIntact says whether the margins of framed are as they were made.
func marginsIntact(all []byte) bool {
	for i := range margin {
		if all[i] != 0xc5 || all[len(all)-1-i] != 0xc5 {
			return false
		}
	}
	return true
}

// part names the n bytes of a region from off on.
func part(r fabric.Region, off, n int) fabric.Remote {
	return fabric.Remote{Addr: r.Addr + uint64(off), Len: uint64(n), Key: r.Key}
}

func unsupported(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	caps := a.d.Caps()
	buf := make([]byte, 64)
	local := a.region(buf, fabric.LocalWrite)
	remote := b.region(make([]byte, 64), fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic).Region.Remote
	var result uint64
	for _, c := range []struct {
		name    string
		offered bool
		call    func(op fabric.Op) error
	}{
		{"Get", caps.Get, func(op fabric.Op) error { return a.eps[1].Get(local, remote, op) }},
		{"Put", caps.Put, func(op fabric.Op) error { return a.eps[1].Put(local, remote, op) }},
		{"Atomic", caps.Atomics, func(op fabric.Op) error {
			return a.eps[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Result: &result}, remote, op)
		}},
	} {
		b.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) {}
		_, err := a.try(c.call)
		switch {
		case c.offered && err != nil:
			t.Errorf("%s is offered and answers %v", c.name, err)
		case !c.offered && !errors.Is(err, fabric.ErrUnsupported):
			t.Errorf("%s is not offered and answers %v, want ErrUnsupported", c.name, err)
		}
		a.finish()
	}
	if err := a.eps[1].Write(remote, buf); !caps.Write && !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Write is not offered and answers %v, want ErrUnsupported", err)
	}
	if !caps.Pack {
		if err := a.eps[1].SendPacked(1, 0, nil, &packed{bytes: buf}, 0, 1); !errors.Is(err, fabric.ErrUnsupported) {
			t.Errorf("SendPacked is not offered and answers %v, want ErrUnsupported", err)
		}
	}
	if !caps.Reach {
		if _, err := b.d.Share(64); !errors.Is(err, fabric.ErrUnsupported) {
			t.Errorf("Share is not offered and answers %v, want ErrUnsupported", err)
		}
		if _, err := a.eps[1].Reach(remote); !errors.Is(err, fabric.ErrUnsupported) {
			t.Errorf("Reach is not offered and answers %v, want ErrUnsupported", err)
		}
		a.eps[1].Knock(true)
	}
}

func getExact(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	if !a.d.Caps().Get {
		t.Skip("not offered; see the case for what Caps does not offer")
	}
	src := bytes.Clone(noise)
	remote := b.region(src, fabric.RemoteRead).Region
	for i, n := range lengths {
		all, inner := framed(n)
		whole := a.region(all, fabric.LocalWrite)
		off := (i * 4099) % (len(src) - n)
		dst := fabric.Segment{Bytes: inner, Region: whole.Region}
		a.start(func(op fabric.Op) error { return a.eps[1].Get(dst, part(remote, off, n), op) })
		a.finish()
		if !bytes.Equal(inner, noise[off:off+n]) {
			t.Errorf("Get of %d bytes from offset %d: wrong bytes", n, off)
		}
		if !marginsIntact(all) {
			t.Errorf("Get of %d bytes wrote beside its target", n)
		}
		if !a.d.Caps().LocalUnregistered {
			continue
		}
		clear(inner)
		dst.Region = fabric.Region{}
		a.start(func(op fabric.Op) error { return a.eps[1].Get(dst, part(remote, off, n), op) })
		a.finish()
		if !bytes.Equal(inner, noise[off:off+n]) {
			t.Errorf("Get of %d bytes to memory that is not registered: wrong bytes", n)
		}
	}
	if !bytes.Equal(src, noise) {
		t.Error("Get changed its source")
	}
}

func putExact(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	if !a.d.Caps().Put {
		t.Skip("not offered; see the case for what Caps does not offer")
	}
	src := a.region(bytes.Clone(noise), 0)
	told := 0
	b.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { told++ }
	for i, n := range lengths {
		all, inner := framed(n)
		whole := b.region(all, fabric.LocalWrite|fabric.RemoteWrite)
		off := (i * 4099) % (len(noise) - n)
		from := fabric.Segment{Bytes: src.Bytes[off : off+n], Region: src.Region}
		put := func(how string) {
			t.Helper()
			before := told
			a.start(func(op fabric.Op) error { return a.eps[1].Put(from, part(whole.Region, margin, n), op) })
			a.finish()
			a.send(1, 1, 0, nil, nil)
			r.wait("the message behind a Put", func() bool { return told == before+1 })
			if !bytes.Equal(inner, noise[off:off+n]) {
				t.Errorf("Put of %d bytes %s: wrong bytes", n, how)
			}
			if !marginsIntact(all) {
				t.Errorf("Put of %d bytes %s wrote beside its target", n, how)
			}
			clear(inner)
		}
		put("from registered memory")
		if a.d.Caps().LocalUnregistered {
			from.Region = fabric.Region{}
			put("from memory that is not registered")
		}
	}
	if !bytes.Equal(src.Bytes, noise) {
		t.Error("Put changed its source")
	}
}

func messageAfterBytes(t *testing.T, h Harness) {
	r := open(t, h, 2)
	if !r.nodes[0].d.Caps().Put {
		t.Skip("not offered; see the case for what Caps does not offer")
	}
	const rounds = 2000
	sizes := []int{1, 8, 64, 300, 5000, 70000}
	target := r.nodes[1].region(make([]byte, 70000), fabric.LocalWrite|fabric.RemoteWrite)
	source := r.nodes[0].region(make([]byte, 70000), 0)
	pick := func(round uint64) []byte {
		return content(round, sizes[int(mix(round)%uint64(len(sizes)))])
	}
	r.together(func(n *node) {
		seen := uint64(0)
		if n.rank == 1 {
			n.onDeliver = func(from fabric.Peer, _ uint8, imm uint64, _, _ []byte) {
				seen++
				if from != 0 || imm != seen {
					n.t.Errorf("message %d from %d, want %d from 0", imm, from, seen)
				}
				if b := pick(seen); !bytes.Equal(target.Bytes[:len(b)], b) {
					n.t.Errorf("the message of round %d came before its %d bytes", seen, len(b))
				}
			}
			for round := range uint64(rounds) {
				n.wait("the message behind a Put", func() bool { return seen == round+1 })
				n.send(0, 1, 0, nil, nil)
			}
			return
		}
		n.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { seen++ }
		for round := uint64(1); round <= rounds; round++ {
			b := pick(round)
			copy(source.Bytes, b)
			src := fabric.Segment{Bytes: source.Bytes[:len(b)], Region: source.Region}
			n.start(func(op fabric.Op) error {
				return n.eps[1].Put(src, part(target.Region, 0, len(b)), op)
			})
			n.finish()
			n.send(1, 1, round, nil, nil)
			n.wait("the answer to a message", func() bool { return seen == round })
		}
	})
	r.settle()
}

// completesOnce starts many operations of all kinds before it waits. The nodes
// check that Complete is called in Poll, for what is in flight.
func completesOnce(t *testing.T, h Harness) {
	r := open(t, h, 3)
	caps := r.nodes[0].d.Caps()
	const count, piece = 500, 64
	for _, n := range r.nodes {
		n.count()
	}
	for i, n := range r.nodes {
		local := n.region(make([]byte, count*piece), fabric.LocalWrite)
		at := func(k int) fabric.Segment {
			return fabric.Segment{Bytes: local.Bytes[k*piece:][:piece], Region: local.Region}
		}
		to := (i + 1) % len(r.nodes)
		remote := r.nodes[to].region(make([]byte, count*piece),
			fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic).Region
		e := n.eps[to]
		results := make([]uint64, count)
		for k := range count {
			if caps.Get {
				n.start(func(op fabric.Op) error { return e.Get(at(k), part(remote, k*piece, piece), op) })
			}
			if caps.Put {
				n.start(func(op fabric.Op) error { return e.Put(at(k), part(remote, k*piece, piece), op) })
			}
			if caps.Atomics {
				n.start(func(op fabric.Op) error {
					return e.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &results[k]}, part(remote, k*piece, 8), op)
				})
			}
			if k%5 == 0 {
				n.start(e.Flush)
			}
		}
	}
	for _, n := range r.nodes {
		n.finish()
	}
	r.settle()
	for _, n := range r.nodes {
		if len(n.done) != int(n.ops) {
			t.Errorf("rank %d: %d operations accepted, %d completed", n.rank, n.ops, len(n.done))
		}
	}
}
