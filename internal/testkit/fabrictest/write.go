package fabrictest

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// The cases here are about Write; write_end.go has those about
// the end of a rank.

// room is a kind of memory that a rank can have written.
type room struct {
	name string
	make func(n *node, bytes int) fabric.Segment
}

// rooms are the kinds that a Write has to reach. It reaches what Put does; memory of
// another kind is ErrUnsupported.
func rooms(h Harness, caps fabric.Caps) (all []room) {
	const access = fabric.LocalWrite | fabric.RemoteRead | fabric.RemoteWrite
	if caps.Put {
		all = append(all, room{"heap", func(n *node, bytes int) fabric.Segment { return n.region(make([]byte, bytes), access) }})
	}
	if h.Alloc != nil {
		all = append(all, room{"mapped", func(n *node, bytes int) fabric.Segment { return n.region(h.Alloc(n.t, bytes), access) }})
	}
	if caps.Reach {
		all = append(all, room{"shared", func(n *node, bytes int) fabric.Segment { return n.share(bytes) }})
	}
	return all
}

func needWriters(t *testing.T, h Harness) {
	if !h.Writes {
		t.Skip("not offered; see the case for what the harness says")
	}
}

func writersAsSaid(t *testing.T, h Harness) {
	r := open(t, h, 2)
	if writes := r.nodes[0].d.Caps().Write; writes != h.Writes {
		t.Errorf("Write is offered: %t, the harness says %t", writes, h.Writes)
	}
}

// onWriters runs a case for each kind of memory, on a job of its own.
func onWriters(t *testing.T, h Harness, ranks int, run func(t *testing.T, r *rig, m room)) {
	needWriters(t, h)
	r := open(t, h, ranks)
	for _, m := range rooms(h, r.nodes[0].d.Caps()) {
		t.Run(m.name, func(t *testing.T) { run(t, open(t, h, ranks), m) })
	}
}

// long is a length above the pieces that a transport may cut at, if the memory has
// as much: there is little to share.
func (m room) long(n int) int {
	if m.name == "shared" {
		return min(n, 64<<10)
	}
	return n
}

func writeExact(t *testing.T, h Harness) {
	onWriters(t, h, 2, func(t *testing.T, r *rig, m room) {
		a, b := r.nodes[0], r.nodes[1]
		w := a.eps[1]
		whole := m.make(b, m.long(4<<20+3)+2*margin)
		for i, n := range append([]int{0}, lengths...) {
			if n > len(whole.Bytes)-2*margin {
				continue
			}
			all := whole.Bytes[:n+2*margin]
			for k := range all {
				all[k] = 0xc5
			}
			src := content(uint64(i), n)
			dst := part(whole.Region, margin, n)
			for _, more := range []int{0, margin} { // a Remote may be longer than src
				dst.Len += uint64(more)
				if err := w.Write(dst, src); err != nil {
					t.Fatalf("Write of %d bytes to %d: %v", n, dst.Len, err)
				}
			}
			// The peer learns of it by a message.
			got := false
			b.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { got = true }
			a.send(1, 1, 0, nil, nil)
			r.wait("the message behind it", func() bool { return got })
			if !bytes.Equal(all[margin:margin+n], src) {
				t.Errorf("Write of %d bytes: wrong bytes", n)
			}
			if !marginsIntact(all) {
				t.Errorf("Write of %d bytes wrote beside its target", n)
			}
		}
		short := part(whole.Region, 0, 7)
		if err := w.Write(short, make([]byte, 8)); !errors.Is(err, fabric.ErrBadRemote) {
			t.Errorf("Write of 8 bytes to 7: %v, want ErrBadRemote", err)
		}
	})
}

// writeThenSend has a goroutine write and the owner send behind it.
func writeThenSend(t *testing.T, h Harness) {
	size := 20_000
	if raceEnabled { // which looks at every byte that Go copies
		size = 2000
	}
	onWriters(t, h, 2, func(t *testing.T, r *rig, m room) {
		target := m.make(r.nodes[1], size)
		rounds := h.rounds(1000)
		heard := newSignal()
		r.together(func(n *node) {
			n.onDown = nil
			if n.rank == 1 {
				seen := 0
				n.onDeliver = func(_ fabric.Peer, _ uint8, imm uint64, _, _ []byte) {
					if seen++; !bytes.Equal(target.Bytes, content(imm, size)) {
						n.complain("a message has overtaken the Write before it, in round %d", imm)
					}
				}
				for i := range rounds {
					n.wait("a message", func() bool { return seen > i })
					n.say(heard)
				}
				return
			}
			w, turn, wrote := n.eps[1], make(chan int), make(chan error)
			go func() {
				defer close(wrote)
				for i := range turn {
					wrote <- w.Write(target.Region.Remote, content(uint64(i), size))
				}
			}()
			defer close(turn)
			for i := range rounds {
				turn <- i
				if err := <-wrote; err != nil {
					n.fail("Write: %v", err)
				}
				n.send(1, 1, uint64(i), nil, nil)
				n.hear(heard)
			}
		})
	})
}

// writeTogether has goroutines write parts of a memory of each of two peers while
// the owners put other parts and send messages to each other.
func writeTogether(t *testing.T, h Harness) {
	const goroutines, block = 8, 3000
	onWriters(t, h, 3, func(t *testing.T, r *rig, m room) {
		caps := r.nodes[0].d.Caps()
		var targets [3]fabric.Segment
		for i, n := range r.nodes[1:] {
			targets[i+1] = m.make(n, (goroutines+1)*block)
		}
		rounds := h.rounds(500)
		a := r.nodes[0]
		own := a.region(make([]byte, block), 0)
		over := [3]signal{newSignal(), newSignal(), newSignal()}
		r.together(func(n *node) {
			got := n.count()
			if n.rank > 0 {
				n.wait("the end of the writes", func() bool {
					n.eps[0].Send(1, 0, nil, content(1, 100))
					return over[n.rank].heard()
				})
				return
			}
			var wg sync.WaitGroup
			for g := range goroutines {
				for p := 1; p < 3; p++ {
					w := n.eps[p]
					wg.Go(func() {
						for i := range rounds {
							if err := w.Write(part(targets[p].Region, g*block, block), content(uint64(i*goroutines+g), block)); err != nil {
								t.Errorf("Write: %v", err)
								return
							}
							runtime.Gosched()
						}
					})
				}
			}
			done := make(chan struct{})
			go func() { wg.Wait(); close(done) }()
			n.wait("the goroutines", func() bool {
				for p := 1; p < 3; p++ {
					if caps.Put && len(n.pending) < 8 {
						n.tryOnce(func(op fabric.Op) error {
							return n.eps[p].Put(own, part(targets[p].Region, goroutines*block, block), op)
						})
					}
					n.eps[p].Send(1, 0, nil, content(2, 100))
				}
				select {
				case <-done:
					return true
				default:
					return false
				}
			})
			n.finish()
			n.wait("messages of the others", func() bool { return *got > 0 })
			for p := 1; p < 3; p++ {
				n.say(over[p])
			}
		})
		for p := 1; p < 3; p++ {
			for g := range goroutines {
				if !bytes.Equal(targets[p].Bytes[g*block:][:block], content(uint64((rounds-1)*goroutines+g), block)) {
					t.Errorf("rank %d has not what goroutine %d has written last", p, g)
				}
			}
			if last := targets[p].Bytes[goroutines*block:]; !bytes.Equal(last, own.Bytes) {
				t.Errorf("rank %d has other bytes where only zeros were put", p)
			}
		}
	})
}

func writeNoAllocation(t *testing.T, h Harness) {
	if raceEnabled || h.Allocates {
		t.Skip("allocations are not counted")
	}
	onWriters(t, h, 2, func(t *testing.T, r *rig, m room) {
		w := r.nodes[0].eps[1]
		target := m.make(r.nodes[1], 50_000)
		src := make([]byte, 50_000)
		for _, n := range []int{0, 1, 4096, 50_000} {
			if avg := testing.AllocsPerRun(100, func() {
				if err := w.Write(target.Region.Remote, src[:n]); err != nil {
					t.Fatal(err)
				}
			}); avg != 0 {
				t.Errorf("Write of %d bytes: %v allocations", n, avg)
			}
		}
	})
}

// writeEarly writes before anything was accepted.
func writeEarly(t *testing.T, h Harness) {
	needWriters(t, h)
	r := openOnly(t, h, 2)
	r.connectAll()
	w := r.nodes[0].eps[1]
	target := r.nodes[1].region(make([]byte, 64), fabric.RemoteWrite).Region.Remote
	if err := w.Write(target, make([]byte, 64)); err != nil && !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Write before the connection stands: %v, want ErrUnsupported or nothing", err)
	}
}
