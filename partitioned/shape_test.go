package partitioned

import (
	"testing"

	"pgregory.net/rapid"
)

// A shape cuts all of a message into blocks of whole partitions, as small as may be.
func TestAShapeCutsAllOfAMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(1, 200).Draw(t, "parts")
		part := rapid.Uint64Range(0, 40).Draw(t, "part")
		least := rapid.Uint64Range(0, 500).Draw(t, "least")
		s := cut(part*uint64(parts), parts, least)
		at, count, n := uint64(0), 0, s.blocks()
		for b := range n {
			lo, hi := s.span(b, 1)
			if lo != at || hi-lo != s.room(b) || s.room(b) != uint64(s.partitions(b))*part || s.partitions(b) < 1 {
				t.Fatalf("%+v: block %d of %d has %d partitions, bytes %d to %d after %d", s, b, n, s.partitions(b), lo, hi, at)
			}
			if b < n-1 && (s.room(b) < least || s.room(b) == 0 || s.room(b) >= max(least, 1)+part) {
				t.Fatalf("%+v: block %d has %d bytes, least %d, a partition %d", s, b, s.room(b), least, part)
			}
			for last := b; last < n; last++ {
				if from, to := s.span(b, last-b+1); from != lo || b < last && to < hi || last == n-1 && to != s.bytes {
					t.Fatalf("%+v: blocks %d to %d have bytes %d to %d", s, b, last, from, to)
				}
			}
			at, count = hi, count+s.partitions(b)
		}
		if at != s.bytes || count != parts {
			t.Fatalf("%+v: the blocks have %d bytes, %d partitions", s, at, count)
		}
	})
}

// over finds the blocks of the bytes of a partition, however the other side cuts.
func TestABlockIsFoundByItsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(1, 60).Draw(t, "parts")
		s := cut(uint64(parts)*rapid.Uint64Range(1, 9).Draw(t, "part"), parts, rapid.Uint64Range(0, 50).Draw(t, "least"))
		lo := rapid.Uint64Range(0, s.bytes-1).Draw(t, "lo")
		hi := rapid.Uint64Range(lo+1, s.bytes).Draw(t, "hi")
		first, last := s.over(lo, hi)
		for b := range s.blocks() {
			from, to := s.span(b, 1)
			if meets := from < hi && lo < to; meets != (first <= b && b <= last) {
				t.Fatalf("%+v: bytes %d to %d are over blocks %d to %d, and block %d has %d to %d", s, lo, hi, first, last, b, from, to)
			}
		}
	})
	if first, last := cut(0, 5, 16).over(0, 0); first != 0 || last != 0 {
		t.Errorf("no bytes are over blocks %d to %d, want the only one", first, last)
	}
}

func TestRunsComeOutInTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q runs
		var want []run
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "add") {
				q.add(run{i, 1 + i%3})
				want = append(want, run{i, 1 + i%3})
			} else if len(want) > 0 {
				if q.empty() || q.first() != want[0] {
					t.Fatalf("the queue is empty: %t, or has another than %v first", q.empty(), want[0])
				}
				q.pop()
				want = want[1:]
			}
			if q.empty() != (len(want) == 0) {
				t.Fatalf("empty: %t, with %d inside", q.empty(), len(want))
			}
		}
	})
}
