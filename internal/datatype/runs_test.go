package datatype

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestRunsAreTheElementsMemoryInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		c := s.cursor(rt, s.mem)
		limit := rapid.SampledFrom([]int{1, 5, 64, math.MaxInt}).Draw(rt, "limit")
		var got []byte
		end, pieces := -1, 0
		for off, n := range c.Runs(limit) {
			if n > limit {
				rt.Fatalf("a run of %d bytes, more than %d:%s", n, limit, s.text)
			}
			if off == end && limit == math.MaxInt {
				rt.Fatalf("two runs that follow one another at %d:%s", off, s.text)
			}
			got, end = append(got, s.mem[off:off+n]...), off+n
			pieces++
		}
		if !bytes.Equal(got, s.packed) || c.Len() != 0 {
			rt.Fatalf("runs have\n%v, not\n%v:%s", got, s.packed, s.text)
		}
		if off, n, ok := s.t.Range(s.count); ok != (pieces <= 1 && limit == math.MaxInt) && limit == math.MaxInt {
			rt.Fatalf("Range says %v, and there are %d runs:%s", ok, pieces, s.text)
		} else if ok && !bytes.Equal(s.mem[s.origin+off:][:n], s.packed) {
			rt.Fatalf("Range says %d bytes at %d:%s", n, off, s.text)
		}
	})
}

func TestALoopOverRunsMayEndAndGoOn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		c := s.cursor(rt, s.mem)
		var got []byte
		for c.Len() > 0 {
			for off, n := range c.Runs(7) {
				got = append(got, s.mem[off:off+n]...)
				break
			}
			rest := make([]byte, 3)
			got = append(got, rest[:c.Pack(rest)]...)
		}
		if !bytes.Equal(got, s.packed) {
			rt.Fatalf("runs and packed bytes in turns give\n%v, not\n%v:%s", got, s.packed, s.text)
		}
	})
}

func TestElementsAreTheListsWithinAPiece(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		from := rapid.IntRange(0, len(s.packed)).Draw(rt, "from")
		to := rapid.IntRange(0, len(s.packed)+3).Draw(rt, "to")
		lb, ub := s.m.bounds()
		type element struct {
			kind Kind
			off  int
		}
		var want, got []element
		at := 0
		for i := range s.count {
			for _, e := range s.m.withoutMarkers() {
				if at >= from && at+e.kind.Size() <= to {
					want = append(want, element{e.kind, i*(ub-lb) + e.disp})
				}
				at += e.kind.Size()
			}
		}
		for e := range s.t.Elements(s.count, from, to) {
			if e.N < 1 {
				rt.Fatalf("%d elements in a piece:%s", e.N, s.text)
			}
			for i := range e.N {
				got = append(got, element{e.Kind, e.Off + i*e.Kind.Extent()})
			}
		}
		if len(got) != len(want) {
			rt.Fatalf("%d elements from %d to %d, not %d:%s", len(got), from, to, len(want), s.text)
		}
		for i := range got {
			if got[i] != want[i] {
				rt.Fatalf("element %d is %v, not %v:%s", i, got[i], want[i], s.text)
			}
		}
	})
}

func TestCountsOfAMessageAreTheListsCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		elements, pairs := map[int]int{0: 0}, map[int]bool{0: true}
		at, n := 0, 0
		for range s.count {
			for _, e := range s.m.data() {
				at += e.kind.Size()
				n++
				elements[at] = n
			}
		}
		at = 0
		for range s.count {
			for _, e := range s.m.withoutMarkers() {
				at += e.kind.Size()
				pairs[at] = true
			}
		}
		cut := 0
		for bytes := range len(s.packed) + 1 {
			want, whole := elements[bytes]
			if got, ok := s.t.CountElements(bytes); got != want || ok != whole {
				rt.Fatalf("%d bytes have %d, %v elements, not %d, %v:%s", bytes, got, ok, want, whole, s.text)
			}
			if got, ok := s.t.ElementBytes(want); whole && (got != bytes || !ok) {
				rt.Fatalf("%d elements have %d, %v bytes, not %d:%s", want, got, ok, bytes, s.text)
			}
			if pairs[bytes] {
				cut = bytes
			}
			if got := s.t.Cut(bytes); got != cut {
				rt.Fatalf("%d bytes are cut to %d, not %d:%s", bytes, got, cut, s.text)
			}
			size := s.t.Size()
			if got, ok := s.t.Count(bytes); ok != (bytes == 0 || bytes%size == 0) || ok && got*size != bytes {
				rt.Fatalf("%d bytes are %d, %v elements of %d bytes", bytes, got, ok, size)
			}
		}
	})
}

func TestNoMessageHasSoManyElements(t *testing.T) {
	empty, pair := must(Contiguous(0, Of(Int32))), Of(DoubleInt)
	for _, c := range []struct {
		t     *Type
		n     int
		bytes int
		ok    bool
	}{
		{pair, 0, 0, true}, {pair, 1, 8, true}, {pair, 2, 12, true}, {pair, 3, 20, true}, {pair, -1, 0, false},
		{pair, math.MaxInt, 0, false}, {empty, 0, 0, true}, {empty, 1, 0, false}, {Of(Byte), math.MaxInt, math.MaxInt, true},
	} {
		if bytes, ok := c.t.ElementBytes(c.n); ok != c.ok || ok && bytes != c.bytes {
			t.Errorf("%d basic elements of %v have %d, %v bytes, want %d, %v", c.n, c.t, bytes, ok, c.bytes, c.ok)
		}
	}
}

func TestOverlapsSeesBytesThatAreTouchedTwice(t *testing.T) {
	overlapping := 0
	for range 100 { // few random types do
		rapid.Check(t, func(rt *rapid.T) {
			s := drawSample(rt)
			if got, known := s.t.Overlaps(s.count); got != s.overlaps || !known {
				rt.Fatalf("overlaps: %v, known: %v; the list says %v:%s", got, known, s.overlaps, s.text)
			}
			if s.overlaps {
				overlapping++
			}
		})
		if overlapping > 0 {
			return
		}
	}
	t.Error("no random type overlaps")
}
