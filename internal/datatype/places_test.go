package datatype

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// A cursor over the bytes that elements touch, and no others, moves the same bytes as one
// over memory around them, and Places names where they lie.
func TestTheSpanOfElementsIsAllThatACursorNeeds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		lo, hi, err := s.t.Span(s.count)
		if err != nil {
			rt.Fatal(err)
		}
		span := s.mem[s.origin+lo : s.origin+hi]
		var c Cursor
		if err := c.ResetSpan(s.t, s.count, span); err != nil {
			rt.Fatalf("%v:%s", err, s.text)
		}
		got := make([]byte, len(s.packed))
		if n := c.Pack(got); n != len(got) || !bytes.Equal(got, s.packed) {
			rt.Fatalf("packed %d bytes\n%v, not\n%v:%s", n, got, s.packed, s.text)
		}
		var p Places
		if err := p.Reset(s.t, s.count); err != nil {
			rt.Fatalf("%v:%s", err, s.text)
		}
		for range 5 {
			at := rapid.IntRange(0, len(s.packed)).Draw(rt, "position")
			limit := rapid.IntRange(0, 20).Draw(rt, "limit")
			p.Seek(at)
			off, n := p.Next(limit)
			if n == 0 && limit > 0 && at < len(s.packed) || n > limit {
				rt.Fatalf("%d bytes at %d, at most %d:%s", n, at, limit, s.text)
			}
			for i := range n {
				if where := s.where[at+i]; where != s.origin+lo+off+i {
					rt.Fatalf("packed byte %d lies at %d, not %d:%s", at+i, s.origin+lo+off+i, where, s.text)
				}
			}
		}
	})
}

func TestWhatIsNotTheSpanOfElementsIsRefused(t *testing.T) {
	var c Cursor
	var p Places
	far, err := HIndexed([]int{1}, []int{100}, Of(Int32))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []struct {
		name string
		err  error
		as   error
	}{
		{"no type", c.ResetSpan(nil, 1, nil), ErrNilType},
		{"no committed type", c.ResetSpan(far, 1, nil), ErrNotCommitted},
		{"a negative count", c.ResetSpan(Of(Byte), -1, nil), ErrNegative},
		{"too many", c.ResetSpan(Of(Int64), 1<<61, nil), ErrTooLarge},
		{"too little memory", c.ResetSpan(Of(Int64), 2, make([]byte, 15)), ErrMemory},
		{"too much memory", c.ResetSpan(Of(Int64), 2, make([]byte, 17)), ErrMemory},
		{"places of no type", p.Reset(nil, 1), ErrNilType},
		{"places of too many", p.Reset(Of(Int64), 1<<61), ErrTooLarge},
	} {
		if !errors.Is(b.err, b.as) || c.Len() != 0 {
			t.Errorf("%s: %v, want %v; %d bytes are left", b.name, b.err, b.as, c.Len())
		}
	}
	if err := far.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := c.ResetSpan(far, 1, []byte{1, 2, 3, 4}); err != nil || c.Len() != 4 {
		t.Errorf("an element far from displacement 0: %v, %d bytes", err, c.Len())
	}
}
