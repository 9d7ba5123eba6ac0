package fabrictest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// The cases here are about what the end of a one-sided operation says, and to
// whom.

// putSizes are lengths of Puts that take different ways.
var putSizes = []int{1, 8, 64, 300, 5000, 70000}

// putContent is what round's Put writes.
func putContent(round uint64) []byte {
	return content(round, putSizes[mix(round)%uint64(len(putSizes))])
}

func needPut(t *testing.T, r *rig) {
	if !r.nodes[0].d.Caps().Put {
		t.Skip("not offered; see the case for what Caps does not offer")
	}
}

// putter is a rank's way to write to another's memory, over and over.
type putter struct {
	source, target fabric.Segment
	word           []byte // of the peer's, for atomics
	wordAt         fabric.Remote
}

func newPutter(from, to *node) *putter {
	const most = 70000
	p := &putter{source: from.region(make([]byte, most), 0),
		target: to.region(make([]byte, most), fabric.LocalWrite|fabric.RemoteWrite)}
	all := words(1)
	w := to.region(all, fabric.LocalWrite|fabric.RemoteAtomic)
	p.word, p.wordAt = all[8:16], part(w.Region, 8, 8)
	return p
}

// put starts the Put of a round, under an Op or as a NoOp.
func (p *putter) put(n *node, to int, round uint64, quiet bool) {
	n.t.Helper()
	b := putContent(round)
	src := fabric.Segment{Bytes: p.source.Bytes[:copy(p.source.Bytes, b)], Region: p.source.Region}
	call := func(op fabric.Op) error { return n.eps[to].Put(src, part(p.target.Region, 0, len(b)), op) }
	if quiet {
		n.startQuiet(call)
	} else {
		n.start(call)
	}
}

// look says whether the Put of a round is in the peer's memory.
func (p *putter) look(t testing.TB, round uint64, who string) {
	if b := putContent(round); !bytes.Equal(p.target.Bytes[:len(b)], b) {
		t.Errorf("round %d: %s does not find the %d bytes of a Put", round, who, len(b))
	}
}

// startQuiet is start for a NoOp.
func (n *node) startQuiet(call func(op fabric.Op) error) {
	n.t.Helper()
	var err error
	n.wait("a NoOp to be accepted", func() bool {
		err = call(fabric.NoOp)
		return err != fabric.ErrAgain
	})
	if err != nil {
		n.fail("rank %d: NoOp refused: %v", n.rank, err)
	}
}

func putThenSend(t *testing.T, h Harness) {
	r := open(t, h, 2)
	needPut(t, r)
	p := newPutter(r.nodes[0], r.nodes[1])
	atomics := r.nodes[0].d.Caps().Atomics
	const rounds = 1000
	r.together(func(n *node) {
		seen := uint64(0)
		n.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) {
			if seen++; n.rank == 1 {
				p.look(n.t, seen, "the receiver of a message behind its end")
				if got := binary.NativeEndian.Uint64(p.word); atomics && got != seen {
					n.t.Errorf("round %d: the receiver of a message behind %d Atomics finds %d", seen, seen, got)
				}
			}
		}
		for round := uint64(1); round <= rounds; round++ {
			if n.rank == 1 {
				n.wait("a message", func() bool { return seen == round })
				n.send(0, 1, 0, nil, nil)
				continue
			}
			p.put(n, 1, round, false)
			if atomics {
				n.start(func(op fabric.Op) error {
					return n.eps[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: new(uint64)}, p.wordAt, op)
				})
			}
			n.finish()
			clear(p.source.Bytes) // the caller's again
			n.send(1, 1, 0, nil, nil)
			n.wait("the answer", func() bool { return seen == round })
		}
	})
}

// flushedForThird has rank 1 hear of a Put from rank 2, whom the writer has
// told: it looks when a message of another rank comes. In every other round the
// news goes round the fabric.
func flushedForThird(t *testing.T, h Harness) {
	r := open(t, h, 3)
	needPut(t, r)
	p := newPutter(r.nodes[0], r.nodes[1])
	around, back := newSignal(), newSignal()
	const rounds = 600
	r.together(func(n *node) {
		heard := 0
		n.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { heard++ }
		for round := uint64(1); round <= rounds; round++ {
			direct := round%2 == 0
			want := int(round+1) / 2
			switch n.rank {
			case 0:
				p.put(n, 1, round, round%3 == 0)
				flushed := n.start(n.eps[1].Flush)
				n.wait("a Flush", func() bool { return !n.pending[flushed] })
				if direct {
					n.say(around)
				} else {
					n.send(2, 1, 0, nil, nil)
				}
				n.hear(back)
				n.finish()
				clear(p.source.Bytes)
			case 1:
				if direct && h.PutNeedsPeer {
					n.hear(around)
				} else if direct {
					n.hearOnly(around)
				} else {
					n.wait("the news of a third rank", func() bool { return heard == want })
				}
				p.look(n.t, round, "a rank that hears of a Flush from elsewhere")
				n.say(back)
			case 2:
				if !direct {
					n.wait("the news of a Flush", func() bool { return heard == want })
					n.send(1, 1, 0, nil, nil)
				}
			}
		}
	})
}

// quietOps starts many NoOps of each kind, which the nodes expect no Complete
// of, and one Flush behind them.
func quietOps(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	caps := a.d.Caps()
	const count, piece = 200, 400
	whole := func(n *node) fabric.Segment {
		return n.region(make([]byte, count*piece), fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite)
	}
	source, target, got, theirs := whole(a), whole(b), whole(a), whole(b)
	word := words(1)
	counter := part(b.region(word, fabric.LocalWrite|fabric.RemoteAtomic).Region, 8, 8)
	results := make([]uint64, count)
	at := func(s fabric.Segment, k int) fabric.Segment {
		return fabric.Segment{Bytes: s.Bytes[k*piece:][:piece], Region: s.Region}
	}
	for round := range uint64(3) {
		put, read := content(2*round, count*piece), content(2*round+1, count*piece)
		copy(source.Bytes, put)
		copy(theirs.Bytes, read)
		for k := range count {
			if caps.Put {
				a.startQuiet(func(op fabric.Op) error {
					return a.eps[1].Put(at(source, k), part(target.Region, k*piece, piece), op)
				})
			}
			if caps.Get {
				a.startQuiet(func(op fabric.Op) error {
					return a.eps[1].Get(at(got, k), part(theirs.Region, k*piece, piece), op)
				})
			}
			if caps.Atomics {
				a.startQuiet(func(op fabric.Op) error {
					return a.eps[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &results[k]}, counter, op)
				})
			}
		}
		a.start(a.eps[1].Flush)
		a.finish()
		if caps.Put && !bytes.Equal(target.Bytes, put) {
			t.Errorf("round %d: a Flush is over and bytes of NoOp Puts are missing", round)
		}
		if caps.Get && !bytes.Equal(got.Bytes, read) {
			t.Errorf("round %d: a Flush is over and NoOp Gets are not", round)
		}
		if sum := binary.NativeEndian.Uint64(word[8:]); caps.Atomics && sum != (round+1)*count {
			t.Errorf("round %d: a Flush is over and %d of %d NoOp Atomics have acted", round, sum, (round+1)*count)
		}
	}
	r.settle()
}

// quietFailure has a NoOp Put fail, between Flushes: the one before it ends well,
// one behind it tells, and no other.
func quietFailure(t *testing.T, h Harness) {
	if !h.ChecksRemote {
		t.Skip("the harness says that a Remote may reach the peer's whole memory")
	}
	r := open(t, h, 2)
	needPut(t, r)
	a, b := r.nodes[0], r.nodes[1]
	down := false // a transport may give the peer up
	a.onDown = func(fabric.Peer, error) { down = true }
	b.onDown = a.onDown
	src := a.region(make([]byte, 64), 0)
	reg, err := b.d.Register(make([]byte, 64), fabric.LocalWrite|fabric.RemoteWrite)
	if err != nil {
		t.Fatalf("Register: %v", err)
	}
	before := a.start(a.eps[1].Flush)
	a.finish()
	if err := b.d.Deregister(reg); err != nil {
		t.Fatalf("Deregister: %v", err)
	}
	r.wait("the NoOp to be accepted or refused", func() bool {
		err = a.eps[1].Put(src, reg.Remote, fabric.NoOp)
		return err != fabric.ErrAgain
	})
	if err != nil {
		if !errors.Is(err, fabric.ErrBadRemote) {
			t.Errorf("the call answers %v, want ErrBadRemote", err)
		}
		return // told
	}
	op := a.start(a.eps[1].Flush)
	a.wait("the Flush", func() bool { return !a.pending[op] })
	if err := a.done[op]; !errors.Is(err, fabric.ErrBadRemote) {
		t.Errorf("the Flush behind it ends with %v, want ErrBadRemote", err)
	}
	if err := a.done[before]; err != nil {
		t.Errorf("the Flush before it ends with %v", err)
	}
	again, err := a.try(a.eps[1].Flush)
	if err == nil {
		a.wait("a further Flush", func() bool { return !a.pending[again] })
		err = a.done[again]
	}
	r.settle()
	if down && !errors.Is(err, fabric.ErrPeerDown) || !down && err != nil {
		t.Errorf("a further Flush ends with %v; the peer is down: %t", err, down)
	}
}

// aloneFlush has a rank write to one that makes no call.
func aloneFlush(t *testing.T, h Harness) {
	r := open(t, h, 2)
	needPut(t, r)
	if h.PutNeedsPeer {
		t.Skip("the harness says that Put needs the peer's calls")
	}
	a := r.nodes[0]
	p := newPutter(a, r.nodes[1])
	a.idle = func() { a.poll() }
	for round := range uint64(20) {
		p.put(a, 1, round, round%2 == 0)
		a.start(a.eps[1].Flush)
		a.finish()
		p.look(t, round, "a peer that makes no call")
	}
}

// endInFlight has rank 0 end rank 1 while operations of each kind are under way in
// both directions.
func endInFlight(t *testing.T, h Harness) {
	for round := range h.rounds(20) {
		r := open(t, h, 3)
		zero, one, two := r.nodes[0], r.nodes[1], r.nodes[2]
		caps := zero.d.Caps()
		size := []int{64, 300 << 10}[round%2]
		zero.count()
		one.count()
		downs := [2]int{}
		for i, n := range r.nodes[:2] {
			n.onDown = func(p fabric.Peer, err error) {
				downs[i]++
				if int(p) != 1-i || !errors.Is(err, fabric.ErrPeerDown) || len(n.pending) > 0 {
					t.Errorf("rank %d: PeerDown(%d, %v) with %d operations in flight", i, p, err, len(n.pending))
				}
			}
			local := n.region(make([]byte, size), fabric.LocalWrite)
			to := r.nodes[1-i]
			remote := part(to.region(make([]byte, size), fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite).Region, 0, size)
			word := part(to.region(words(1), fabric.LocalWrite|fabric.RemoteAtomic).Region, 8, 8)
			e := n.eps[1-i]
			for range 3 {
				for _, c := range []struct {
					offered bool
					call    func(op fabric.Op) error
				}{
					{caps.Put, func(op fabric.Op) error { return e.Put(local, remote, op) }},
					{caps.Get, func(op fabric.Op) error { return e.Get(local, remote, op) }},
					{caps.Atomics, func(op fabric.Op) error {
						return e.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: new(uint64)}, word, op)
					}},
					{true, e.Flush},
				} {
					if c.offered {
						full(n, func() bool { _, err := n.tryOnce(c.call); return err == nil })
					}
				}
				if caps.Put {
					full(n, func() bool { return e.Put(local, remote, fabric.NoOp) == nil })
				}
				full(n, func() bool { return e.Send(1, 0, nil, nil) == nil })
			}
		}
		for range round % 4 { // so that it has taken some of what has come
			zero.poll()
		}
		zero.onDeliver = nil // nothing of the peer's is delivered any more
		follows := zero.d.End(1, errBroken)
		r.wait("the end of the operations of the rank that ends its peer", func() bool {
			return len(zero.pending) == 0 && downs[0] == map[bool]int{true: 1}[follows]
		})
		if err := zero.eps[1].Flush(1); !errors.Is(err, fabric.ErrPeerDown) {
			t.Errorf("Flush towards a peer that was ended: %v, want ErrPeerDown", err)
		}
		r.wait("PeerDown at the peer", func() bool { return downs[1] == 1 })
		for _, n := range r.nodes[:2] {
			for op, err := range n.done {
				if err != nil && !errors.Is(err, fabric.ErrPeerDown) {
					t.Errorf("rank %d: Complete(%#x, %v), want nil or ErrPeerDown", n.rank, op, err)
				}
			}
		}
		got := two.count()
		zero.send(2, 1, 0, nil, nil)
		one.send(2, 1, 0, nil, nil)
		r.wait("messages to a third rank", func() bool { return *got == 2 })
		r.settle()
		if downs[1] != 1 || downs[0] > 1 {
			t.Errorf("PeerDown was called %v times", downs)
		}
	}
}

func lingerSwitch(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a := r.nodes[0]
	on := a.d.Linger()
	if on != a.d.Linger() {
		t.Error("Linger has another switch in each call")
	}
	if on == nil {
		t.Skip("nothing lingers")
	}
	got := a.count()
	for i := range 50 {
		*on = i%2 == 0
		r.nodes[1].send(0, 1, 0, nil, nil)
		r.wait("a message", func() bool { return *got == i+1 })
		a.pollDry()
	}
	*on = false
}
