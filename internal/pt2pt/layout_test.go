package pt2pt

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// strided is a layout of blocks of some bytes, each stride after the one before.
type strided struct {
	mem           []byte
	block, stride uint64
}

// newStrided makes a layout of n bytes, all of them and the gaps 0xEE.
func newStrided(n, block, stride int) *strided {
	return &strided{bytes.Repeat([]byte{0xEE}, (n+block-1)/block*stride), uint64(block), uint64(stride)}
}

// each calls f with the place of each byte of the message from at on.
func (s *strided) each(n int, at uint64, f func(i int, place *byte)) {
	for i := range n {
		k := at + uint64(i)
		f(i, &s.mem[k/s.block*s.stride+k%s.block])
	}
}

func (s *strided) Pack(dst []byte, at uint64) {
	s.each(len(dst), at, func(i int, p *byte) { dst[i] = *p })
}
func (s *strided) Unpack(src []byte, at uint64) {
	s.each(len(src), at, func(i int, p *byte) { *p = src[i] })
}

func (s *strided) Free() {}

// gaps checks that nothing between the blocks has been written to.
func (s *strided) gaps() error {
	for k, b := range s.mem {
		if uint64(k)%s.stride >= s.block && b != 0xEE {
			return fmt.Errorf("byte %d between the blocks is %#x", k, b)
		}
	}
	return nil
}

// begin starts a send or a receive of a layout.
func (e *engine) begin(kind uint8, mode Mode, peer int, lay progress.Layout, n int) progress.Handle {
	r := e.loop.NewShared()
	fill(r, expiry.Of(e.g.ctx), kind, peer, wire.Imm(world, tag), nil)
	r.Mode = uint8(mode)
	r.SetLayout(lay, uint64(n))
	return e.start(r, false)
}

// A message comes whole into a layout, or out of one, whatever way it takes, and
// whether its receive is there before it or not; too long a one is cut.
func TestLayouts(t *testing.T) {
	paths := []struct {
		name string
		n    int
		kind uint8 // a packet of the path
	}{
		{"nothing", 0, wire.Eager}, {"a word", 8, wire.Eager}, {"eager", 5000, wire.Eager},
		{"in chunks", 12000, wire.EagerMore}, {"in fragments", 100003, wire.Data},
	}
	for _, p := range paths {
		for _, self := range []bool{false, true} {
			for _, from := range []bool{true, false} {
				for _, into := range []bool{true, false} {
					for _, mode := range []Mode{Standard, Synchronous, Ready, Buffered} {
						for _, late := range []bool{false, true} {
							for _, cut := range []int{0, 3} {
								if !from && !into || late && (mode == Ready || self && mode == Synchronous) || cut > p.n || p.n == 0 && cut > 0 {
									continue
								}
								name := fmt.Sprintf("%s, self %t, from a layout %t, into one %t, mode %d, late %t, cut %d", p.name, self, from, into, mode, late, cut)
								t.Run(name, func(t *testing.T) { sendLayout(t, p.n, p.kind, self, from, into, mode, late, cut) })
							}
						}
					}
				}
			}
		}
	}
}

func sendLayout(t *testing.T, n int, kind uint8, self, from, into bool, mode Mode, late bool, cut int) {
	g := newRig(t, 2)
	a, b := g.engine(0), g.engine(1)
	if self {
		b = a
	}
	a.must(a.AttachBuffer(Everywhere, make([]byte, n+BufferOverhead)))
	want, room := pattern(n, 5), n-cut
	src, dst, buf := newStrided(n, 5, 7), newStrided(room, 3, 11), make([]byte, room)
	src.Unpack(want, 0)
	send := func() progress.Handle {
		if from {
			return a.begin(kindSend, mode, b.rank, src, n)
		}
		return a.Isend(g.ctx, mode, b.rank, world, tag, want)
	}
	receive := func() progress.Handle {
		if into {
			return b.begin(kindRecv, Standard, a.rank, dst, room)
		}
		return b.Irecv(g.ctx, a.rank, world, tag, buf)
	}
	var sh, rh progress.Handle
	if late {
		sh = send()
		if _, err := b.Probe(g.ctx, a.rank, world, tag); err != nil {
			t.Fatal(err)
		}
		rh = receive()
	} else {
		rh = receive()
		sh = send()
	}
	if _, err := progress.WaitResult(&sh); err != nil {
		t.Fatal(err)
	}
	res, err := progress.WaitResult(&rh)
	var short *cause.TruncateError
	if cut == 0 && err != nil || cut > 0 && (!errors.As(err, &short) || short.Room != uint64(room)) || res.Bytes != uint64(n) {
		t.Fatalf("received %+v, %v", res, err)
	}
	if into {
		dst.Pack(buf, 0)
		if err := errors.Join(src.gaps(), dst.gaps()); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(buf, want[:room]) {
		t.Errorf("the message is another one")
	}
	if from && !self && mode == Standard {
		a.own(func() {
			if a.spy.sent[kind] == 0 {
				t.Errorf("no packet of kind %d was sent", kind)
			}
		})
	}
	_, err = a.DetachBuffer(g.ctx, Everywhere)
	a.must(err)
	a.clean()
	b.clean()
}

// A peer that lets itself write what was announced as unreadable breaks the
// protocol.
func TestALayoutIsNotWrittenByItsSender(t *testing.T) {
	g := newRig(t, 2)
	e, peer := g.engine(0), g.raw(1)
	const n = 100000
	h := e.begin(kindSend, Standard, 1, newStrided(n, 5, 7), n)
	h2 := wire.RTSHeader(peer.next(wire.RTS).hdr)
	if h2.What()&wire.Unreadable == 0 {
		t.Error("it was announced as readable")
	}
	peer.send(0, wire.Grant, h2.Request(), wire.MakeGrant(make([]byte, wire.GrantSize), 1, n, 1, 1, false), nil)
	if _, err := progress.Wait(&h); err == nil {
		t.Error("it was written")
	}
}
