package datatype

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// sample is some elements of a random type in random memory.
type sample struct {
	tree
	count, origin int
	mem           []byte
	packed        []byte
	where         []int // in mem, of each packed byte
	overlaps      bool
}

func drawSample(rt *rapid.T) sample { return sampleOf(rt, drawTree(wild(rt), 4)) }

func sampleOf(rt *rapid.T, tr tree) (s sample) {
	s.tree = tr
	s.count = rapid.IntRange(0, 4).Draw(rt, "elements")
	lb, ub := s.m.bounds()
	lo, hi := 0, 0
	for i := range s.count {
		if l, h := s.m.trueBounds(); l != h {
			lo, hi = min(lo, l+i*(ub-lb)), max(hi, h+i*(ub-lb))
		}
	}
	s.origin = -lo
	if rapid.Bool().Draw(rt, "memory around") {
		s.origin += 7
		hi += 7
	}
	s.mem = make([]byte, s.origin+hi)
	for i := range s.mem {
		s.mem[i] = byte(i*167 + i>>8*13 + 1)
	}
	seen := make([]bool, len(s.mem))
	for i := range s.count {
		for _, e := range s.m.data() {
			for j := range e.kind.Size() {
				at := s.origin + i*(ub-lb) + e.disp + j
				s.where = append(s.where, at)
				s.packed = append(s.packed, s.mem[at])
				s.overlaps = s.overlaps || seen[at]
				seen[at] = true
			}
		}
	}
	return s
}

func (s *sample) cursor(rt *rapid.T, mem []byte) *Cursor {
	c := new(Cursor)
	if err := c.Reset(s.t, s.count, mem, s.origin); err != nil {
		rt.Fatalf("%v:%s", err, s.text)
	}
	if c.Size() != len(s.packed) || c.Len() != len(s.packed) || c.Pos() != 0 {
		rt.Fatalf("size %d, left %d, at %d; there are %d bytes:%s", c.Size(), c.Len(), c.Pos(), len(s.packed), s.text)
	}
	return c
}

// pieces calls f with random lengths until it has nothing more.
func pieces(rt *rapid.T, total int, f func(from, to int)) {
	longest := rapid.SampledFrom([]int{1, 3, 9, 40, 1 << 20}).Draw(rt, "longest piece")
	for at := 0; at < total; {
		n := min(rapid.IntRange(1, longest).Draw(rt, "piece"), total-at)
		f(at, at+n)
		at += n
	}
}

func TestPackedPiecesAreTheListsBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		c := s.cursor(rt, s.mem)
		got := make([]byte, len(s.packed))
		pieces(rt, len(got), func(from, to int) {
			if n := c.Pack(got[from:to]); n != to-from || c.Pos() != to {
				rt.Fatalf("Pack gave %d of %d bytes and stands at %d, not %d:%s", n, to-from, c.Pos(), to, s.text)
			}
		})
		if !bytes.Equal(got, s.packed) {
			rt.Fatalf("packed\n%v, not\n%v:%s", got, s.packed, s.text)
		}
		if n := c.Pack(make([]byte, 9)); n != 0 {
			rt.Fatalf("Pack at the end gave %d bytes", n)
		}
	})
}

func TestUnpackedPiecesWriteTheElementsAndNothingElse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		if s.overlaps {
			return // which of two bytes stays is not defined
		}
		mem := bytes.Repeat([]byte{0xA5}, len(s.mem))
		c := s.cursor(rt, mem)
		pieces(rt, len(s.packed), func(from, to int) {
			if n := c.Unpack(s.packed[from:to]); n != to-from {
				rt.Fatalf("Unpack took %d of %d bytes:%s", n, to-from, s.text)
			}
		})
		want := bytes.Repeat([]byte{0xA5}, len(s.mem))
		for i, at := range s.where {
			want[at] = s.packed[i]
		}
		if !bytes.Equal(mem, want) {
			rt.Fatalf("memory is\n%v, not\n%v:%s", mem, want, s.text)
		}
	})
}

func TestSeekFindsEachByte(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		c := s.cursor(rt, s.mem)
		for range 20 {
			pos := rapid.IntRange(0, len(s.packed)).Draw(rt, "position")
			c.Seek(pos)
			got := make([]byte, min(rapid.IntRange(0, 50).Draw(rt, "bytes"), len(s.packed)-pos))
			if n := c.Pack(got); n != len(got) || !bytes.Equal(got, s.packed[pos:pos+n]) {
				rt.Fatalf("at %d there is %v, not %v:%s", pos, got[:n], s.packed[pos:pos+len(got)], s.text)
			}
		}
	})
}
