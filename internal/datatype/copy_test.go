package datatype

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// checkCopy copies the elements of s to those of r in pieces and compares.
func checkCopy(rt *rapid.T, s, r *sample) {
	mem := bytes.Repeat([]byte{0xA5}, len(r.mem))
	to, from := r.cursor(rt, mem), s.cursor(rt, s.mem)
	total := min(len(s.packed), len(r.packed))
	pieces(rt, total, func(at, end int) {
		if n := Copy(to, from, end-at); n != end-at || to.Pos() != end || from.Pos() != end {
			rt.Fatalf("Copy gave %d of %d bytes and stands at %d and %d, not %d", n, end-at, to.Pos(), from.Pos(), end)
		}
	})
	if Copy(to, from, 9) > max(len(s.packed), len(r.packed))-total {
		rt.Fatal("Copy at an end gave bytes")
	}
	want := bytes.Repeat([]byte{0xA5}, len(mem))
	for i, at := range r.where[:total] {
		want[at] = s.packed[i]
	}
	if !bytes.Equal(mem, want) {
		rt.Fatalf("memory is\n%v, not\n%v: from%s\nto%s", mem, want, s.text, r.text)
	}
}

func TestCopiesWriteTheElementsAndNothingElse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, r := drawSample(rt), drawSample(rt)
		if r.overlaps {
			return
		}
		checkCopy(rt, &s, &r)
	})
}

// Elements that are many and long enough for each way to copy.
func TestCopiesOfManyBlocks(t *testing.T) {
	grid := func(n, length, stride int) *Type { return must(Vector(n, length, stride, Of(Byte))) }
	twice := must(Vector(2, 1, 1, must(Resized(grid(40, 32, 48), 0, 4000))))
	types := []*Type{grid(1000, 8, 16), grid(500, 16, 24), grid(125, 64, 128), grid(63, 127, 130), grid(1, 8000, 8000), grid(4, 2000, 2400), grid(3, 2600, 9000), twice}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) *sample {
			i := rapid.IntRange(0, len(types)-1).Draw(rt, name)
			return bigSample(types[i], fmt.Sprintf(" type %d", i))
		}
		checkCopy(rt, draw("from"), draw("to"))
	})
}

// bigSample is an element of a type of bytes.
func bigSample(t *Type, text string) *sample {
	if err := t.Commit(); err != nil {
		panic(err)
	}
	_, hi, _ := t.Span(1)
	s := &sample{tree: tree{t: t, text: text}, count: 1, origin: 5, mem: make([]byte, hi+9)}
	for i := range s.mem {
		s.mem[i] = byte(i*167 + i>>8*13 + 1)
	}
	var c Cursor
	if err := c.Reset(t, 1, s.mem, s.origin); err != nil {
		panic(err)
	}
	for off, n := range c.Runs(1) {
		for range n {
			s.where, s.packed = append(s.where, off), append(s.packed, s.mem[off])
		}
	}
	return s
}
