package fabrictest

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// stream is goroutines that write to a peer again and again.
type stream struct {
	wg sync.WaitGroup
	// How many Writes have succeeded, and have failed, and whether the goroutines
	// are to stop. Each stands alone.
	wrote, failed atomic.Int64
	over          atomic.Bool
}

// newStream begins with count goroutines, each with a part of dst of its own. A
// Write that fails is tried again; each error must be want.
func newStream(t testing.TB, w fabric.Endpoint, dst fabric.Remote, src []byte, count int, want error) *stream {
	s := new(stream)
	t.Cleanup(s.stop)
	each := int(dst.Len) / count
	for g := range count {
		s.wg.Go(func() {
			at := fabric.Remote{Addr: dst.Addr + uint64(g*each), Len: uint64(each), Key: dst.Key}
			for !s.over.Load() {
				err := w.Write(at, src[g*each:][:each])
				if err == nil {
					s.wrote.Add(1)
					runtime.Gosched()
					continue
				}
				if s.failed.Add(1); !errors.Is(err, want) {
					t.Errorf("Write: %v, want %v", err, want)
					return
				}
				runtime.Gosched()
			}
		})
	}
	return s
}

func (s *stream) stop() {
	s.over.Store(true)
	s.wg.Wait()
}

const writers = 3

// leaveWriters has rank 0 leave while goroutines of ranks 1 and 2 write to its
// memory, and fill it with something else. Nothing may be written over that.
func leaveWriters(t *testing.T, h Harness, want error, leave func(n *node, target *fabric.Segment)) {
	size := 192 << 10
	if raceEnabled { // which looks at every byte that Go copies
		size = 12 << 10
	}
	needWriters(t, h)
	first := open(t, h, 3)
	spoilt, source := bytes.Repeat([]byte{0xee}, size), bytes.Repeat([]byte{0x11}, size)
	for _, m := range rooms(h, first.nodes[0].d.Caps()) {
		if m.name == "shared" {
			continue // it is gone with the domain
		}
		t.Run(m.name, func(t *testing.T) {
			target := m.make(first.nodes[0], size) // it outlives the jobs
			for round := range h.rounds(40) {
				r := open(t, h, 3)
				zero := r.nodes[0]
				reg, err := zero.d.Register(target.Bytes, fabric.LocalWrite|fabric.RemoteWrite)
				if err != nil {
					t.Fatal(err)
				}
				mine := fabric.Segment{Bytes: target.Bytes, Region: reg}
				// Writes and refusals, of both; rank 0 loads them.
				streams := [3]*stream{}
				for p := 1; p < 3; p++ {
					streams[p] = newStream(t, r.nodes[p].eps[0], part(reg, (p-1)*size/2, size/2), source, writers, want)
				}
				left := newSignal()
				r.together(func(n *node) {
					n.onDown = func(fabric.Peer, error) {}
					if n != zero {
						down := want == fabric.ErrBadRemote
						n.onDown = func(p fabric.Peer, _ error) { down = down || p == 0 }
						n.wait("rank 0 to leave", func() bool { return down && streams[n.rank].failed.Load() > 5 })
						if n.rank == 1 {
							n.hear(left)
						}
						streams[n.rank].stop()
						return
					}
					n.wait("both to write", func() bool { return streams[1].wrote.Load() > 5 && streams[2].wrote.Load() > 5 })
					for range round % 20 { // so that they are in the middle of something else each time
						n.poll()
					}
					leave(n, &mine)
					copy(target.Bytes, spoilt)
					n.say(left)
				})
				r.settle()
				if !bytes.Equal(target.Bytes, spoilt) {
					t.Fatalf("round %d: memory that peers were writing to changes after the rank has left", round)
				}
			}
		})
	}
}

func writeToClosed(t *testing.T, h Harness) {
	leaveWriters(t, h, fabric.ErrPeerDown, func(n *node, _ *fabric.Segment) { n.close() })
}

func writeToEnded(t *testing.T, h Harness) {
	leaveWriters(t, h, fabric.ErrPeerDown, func(n *node, _ *fabric.Segment) { endBoth(n) })
}

func writeToDeregistered(t *testing.T, h Harness) {
	if !h.ChecksRemote {
		t.Skip("the harness says that a Remote may reach the peer's whole memory")
	}
	leaveWriters(t, h, fabric.ErrBadRemote, func(n *node, s *fabric.Segment) {
		if err := n.d.Deregister(s.Region); err != nil {
			n.fail("Deregister: %v", err)
		}
	})
}

// writeBesideLeaving has two ranks leave each other while their goroutines write to
// each other's memory, each by Close or by End.
func writeBesideLeaving(t *testing.T, h Harness) {
	const size = 48 << 10
	spoilt, source := bytes.Repeat([]byte{0xee}, size), bytes.Repeat([]byte{0x11}, size)
	onWriters(t, h, 2, func(t *testing.T, first *rig, m room) {
		if m.name == "shared" {
			t.Skip("it is gone with the domain")
		}
		targets := [2]fabric.Segment{m.make(first.nodes[0], size), m.make(first.nodes[1], size)}
		for round := range h.rounds(40) {
			r := open(t, h, 2)
			var regs [2]fabric.Region
			for i, n := range r.nodes {
				reg, err := n.d.Register(targets[i].Bytes, fabric.LocalWrite|fabric.RemoteWrite)
				if err != nil {
					t.Fatal(err)
				}
				regs[i] = reg
			}
			var streams [2]*stream
			for i, n := range r.nodes {
				want := fabric.ErrPeerDown
				if round>>i&1 == 0 {
					want = errLeft
				}
				streams[i] = newStream(t, bothErrors{n.eps[1-i]}, part(regs[1-i], 0, size), source, writers, want)
			}
			r.together(func(n *node) {
				n.onDown = func(fabric.Peer, error) {}
				n.wait("both to write", func() bool { return streams[0].wrote.Load() > 5 && streams[1].wrote.Load() > 5 })
				if round>>n.rank&1 == 0 {
					n.close()
				} else {
					down := !n.d.End(fabric.Peer(1-n.rank), errBroken)
					n.onDown = func(fabric.Peer, error) { down = true }
					n.wait("the end of the peer", func() bool { return down })
				}
				copy(targets[n.rank].Bytes, spoilt)
				n.wait("the end of its own Writes", func() bool { return streams[n.rank].failed.Load() > 5 })
			})
			for _, s := range streams {
				s.stop()
			}
			for i := range targets {
				if !bytes.Equal(targets[i].Bytes, spoilt) {
					t.Fatalf("round %d: rank %d's memory changes after it has left", round, i)
				}
			}
		}
	})
}

// errLeft stands for either error of a Write whose two ranks leave each other.
var errLeft = errors.New("the peer is down or the domain is closed")

// bothErrors is an endpoint whose Write fails with errLeft too where that is permitted.
type bothErrors struct{ fabric.Endpoint }

func (w bothErrors) Write(dst fabric.Remote, src []byte) error {
	err := w.Endpoint.Write(dst, src)
	if errors.Is(err, fabric.ErrPeerDown) || errors.Is(err, fabric.ErrClosed) {
		return errors.Join(err, errLeft)
	}
	return err
}

// writeBesideClose closes the domain of a rank whose goroutines write.
func writeBesideClose(t *testing.T, h Harness) {
	onWriters(t, h, 2, func(t *testing.T, first *rig, m room) {
		n := m.long(2 << 20)
		for range h.rounds(40) {
			r := open(t, h, 2)
			a, b := r.nodes[0], r.nodes[1]
			b.onDown = func(fabric.Peer, error) {}
			target, src := m.make(b, n), make([]byte, n)
			w := a.eps[1]
			s := newStream(t, w, target.Region.Remote, src, writers, fabric.ErrClosed)
			r.wait("Writes", func() bool { return s.wrote.Load() > 5 })
			a.close()
			if err := w.Write(target.Region.Remote, src); !errors.Is(err, fabric.ErrClosed) {
				t.Errorf("Write after Close: %v, want ErrClosed", err)
			}
			b.wait("the end of the goroutines", func() bool { return s.failed.Load() >= writers })
			s.stop()
		}
	})
}

// writeToDown writes to a peer after its end: its Close, its death, or the End of
// this rank.
func writeToDown(t *testing.T, h Harness) {
	ends := []struct {
		name string
		end  func(a, b *node)
	}{
		{"that has closed", func(_, b *node) { b.close() }},
		{"that has died", func(_, b *node) { h.Kill(b.t, fabric.Peer(b.rank)) }},
		{"that this rank has ended", func(a, _ *node) { a.d.End(1, errBroken) }},
	}
	needWriters(t, h)
	for i, c := range ends {
		if i == 1 && h.Kill == nil {
			continue
		}
		t.Run("A peer "+c.name, func(t *testing.T) {
			r := open(t, h, 2)
			a, b := r.nodes[0], r.nodes[1]
			down := false
			a.onDown = func(fabric.Peer, error) { down = true }
			b.onDown = func(fabric.Peer, error) {}
			w := a.eps[1]
			target := b.region(make([]byte, 64), fabric.LocalWrite|fabric.RemoteWrite).Region.Remote
			s := newStream(t, tolerant{w}, target, make([]byte, 64), writers, fabric.ErrPeerDown)
			c.end(a, b)
			a.idle = func() { a.poll() }
			if i < 2 {
				a.wait("PeerDown", func() bool { return down })
			}
			if err := w.Write(target, make([]byte, 64)); !errors.Is(err, fabric.ErrPeerDown) {
				t.Fatalf("Write after the end of the peer: %v, want ErrPeerDown", err)
			}
			a.wait("the end of the goroutines' Writes", func() bool { return s.failed.Load() >= writers })
			s.stop()
		})
	}
}

// tolerant is an endpoint that writes to memory that may be of the wrong kind.
type tolerant struct{ fabric.Endpoint }

func (w tolerant) Write(dst fabric.Remote, src []byte) error {
	if err := w.Endpoint.Write(dst, src); !errors.Is(err, fabric.ErrUnsupported) {
		return err
	}
	return nil
}
