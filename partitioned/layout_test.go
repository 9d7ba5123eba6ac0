package partitioned

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// place is the memory of an operation: blocks of 64 bytes, each step blocks behind the
// one before. What lies in between is 0xee.
type place struct {
	mem  []byte
	size int
	step int
}

const placeBlock = 64

func newPlace(size, step int) *place {
	p := &place{make([]byte, (size+placeBlock-1)/placeBlock*placeBlock*step), size, step}
	fill(p.mem, 0xee)
	return p
}

// data is the memory as the engine takes it; with step 1 it is in one piece.
func (p *place) data() *Data {
	if p.step == 1 {
		return &Data{Bytes: p.mem[:p.size]}
	}
	return &Data{Layout: p, Size: uint64(p.size)}
}

// pieces calls f with what the bytes from lo to hi of the message lie in.
func (p *place) pieces(lo, hi int, f func(mem []byte)) {
	for lo < hi {
		n := min(placeBlock-lo%placeBlock, hi-lo)
		at := lo/placeBlock*placeBlock*p.step + lo%placeBlock
		f(p.mem[at : at+n])
		lo += n
	}
}

func (p *place) Pack(dst []byte, at uint64) {
	p.pieces(int(at), int(at)+len(dst), func(mem []byte) { dst = dst[copy(dst, mem):] })
}

func (p *place) Unpack(src []byte, at uint64) {
	p.pieces(int(at), int(at)+len(src), func(mem []byte) { src = src[copy(mem, src):] })
}

func (p *place) fill(lo, hi int, v byte) {
	p.pieces(lo, hi, func(mem []byte) { fill(mem, v) })
}

func (p *place) at(i int) (b byte) {
	p.pieces(i, i+1, func(mem []byte) { b = mem[0] })
	return b
}

// gaps checks that nothing between the blocks has been written to.
func (p *place) gaps() error {
	for i, b := range p.mem {
		if i/placeBlock%p.step > 0 && b != 0xee {
			return fmt.Errorf("byte %d, which is none of the message, is %#x", i, b)
		}
	}
	return nil
}

// steps are the places of the two sides.
var steps = []struct {
	name      string
	out, in   int
	scattered bool // everything comes in packets
}{
	{"in one piece", 1, 1, false}, {"from a layout", 3, 1, false}, {"into a layout", 1, 2, true}, {"from a layout into one", 2, 3, true},
}

// A send says of a receive into a layout what it does of any, but for blocks that come
// in another way than in packets: there is no memory for them.
func TestNothingButPacketsComesIntoALayout(t *testing.T) {
	m := make([]byte, fabric.MaxHeader)
	for name, ends := range map[string]bool{"announced": true, "announced ahead": true, "written": true, "bytes": false} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			p := newPlace(96, 2)
			r := h.e.PrecvInitData(t.Context(), 1, 2, 7, p.data(), 3)
			deliver := func(kind uint8, imm uint64, hdr, body []byte) (down bool) {
				h.e.loop.Exclusive(func() {
					h.e.loop.Deliver(1, kind, imm, hdr, body)
					down = h.e.loop.Conn(1).Down() != nil
				})
				return down
			}
			deliver(wire.PInit, wire.Imm(2, 7), wire.MakePInit(m, wire.PartSend{Channel: 9, Bytes: 96, Parts: 6, Per: 1, Addr: h.peer.Addr, Key: h.peer.Key, Readable: true}), nil)
			if name != "announced ahead" {
				must(t, progress.Restart(r.h))
			}
			down := false
			switch blocks := wire.MakePBlocks(m, 1, 0, 6, 0); name {
			case "bytes":
				down = deliver(wire.PData, r.name, wire.MakePData(m, 32, 1), make([]byte, 64))
			case "written":
				down = deliver(wire.PLanded, r.name, blocks, nil)
			default:
				down = deliver(wire.PReady, r.name, blocks, nil)
			}
			if down != ends {
				t.Errorf("the peer is ended: %t, want %t", down, ends)
			}
			if !ends && (!r.Has(1) || p.at(32) != 0 || p.at(31) != 0xee) {
				t.Errorf("the bytes are not there")
			}
			must(t, p.gaps())
		})
	}
}

// Long blocks for a receive into a layout come in packets from the beginning, others are
// read or written as if the send were of memory in one piece.
func TestBlocksOfLayoutsTakeTheWaysThatThereAre(t *testing.T) {
	const parts, part = 4, 1 << 16
	for _, c := range steps {
		t.Run(c.name, func(t *testing.T) {
			es := pair(t, transports()["mem"](), true)
			out, in := newPlace(parts*part, c.out), newPlace(parts*part, c.in)
			s, r := es[0].PsendInitData(t.Context(), 1, 2, 0, out.data(), parts), es[1].PrecvInitData(t.Context(), 0, 2, 0, in.data(), 1)
			for round := range 3 {
				must(t, progress.RestartAll([]progress.Handle{s.h, r.h}))
				out.fill(0, out.size, byte(round))
				must(t, s.Ready(0, parts-1))
				for _, h := range []*progress.Handle{&s.h, &r.h} {
					_, err := progress.Wait(h)
					must(t, err)
				}
				if in.at(0) != byte(round) || in.at(in.size-1) != byte(round) {
					t.Errorf("round %d: it came as %d and %d", round, in.at(0), in.at(in.size-1))
				}
			}
			if s.inPieces != c.scattered || !s.readable {
				t.Errorf("in packets %t, readable %t", s.inPieces, s.readable)
			}
			must(t, in.gaps())
		})
	}
}
