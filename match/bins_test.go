package match

import (
	"fmt"
	"testing"
)

// Programs choose tags and sources with regularity: strides, bit fields, ranks.
// No such choice may crowd the keys into a corner of the bins. The bounds are
// those that random hashes keep at this load, with room.
func TestRegularKeysSpreadOverTheBins(t *testing.T) {
	const n = 65536
	patterns := map[string]func(i uint32) (ctx uint32, src, tag int32){
		"sources":          func(i uint32) (uint32, int32, int32) { return 1, int32(i), 7 },
		"contexts":         func(i uint32) (uint32, int32, int32) { return i, 3, 7 },
		"source and tag":   func(i uint32) (uint32, int32, int32) { return 1, int32(i >> 8), int32(i & 255) },
		"equal":            func(i uint32) (uint32, int32, int32) { return i, int32(i), int32(i) },
		"context, source":  func(i uint32) (uint32, int32, int32) { return i & 255, int32(i >> 8), 7 },
		"high tag bits":    func(i uint32) (uint32, int32, int32) { return 1, 3, int32(i << 15) },
		"any source":       func(i uint32) (uint32, int32, int32) { return 1, AnySource, int32(i) },
		"any tag":          func(i uint32) (uint32, int32, int32) { return 1, int32(i), AnyTag },
		"tag falls as src": func(i uint32) (uint32, int32, int32) { return 1, int32(i), int32(n - i) },
	}
	for _, stride := range []uint32{1, 2, 3, 7, 8, 10, 64, 100, 255, 256, 1000, 1023, 1024, 3072, 4096, 10000, 16384, 32767, 40503} {
		patterns[fmt.Sprintf("tags by %d", stride)] = func(i uint32) (uint32, int32, int32) { return 1, 3, int32(i * stride & 0x7fffffff) }
		patterns[fmt.Sprintf("sources by %d", stride)] = func(i uint32) (uint32, int32, int32) { return 1, int32(i * stride & 0x7fffffff), 0 }
	}
	for name, key := range patterns {
		t.Run(name, func(t *testing.T) {
			var s slab
			var b bins
			for i := range uint32(n) {
				ctx, src, tag := key(i)
				e := s.take()
				s.fill(e, ctx, src, tag, i)
				b.file(s.e, e, hash(ctx, src, tag))
			}
			mask := uint32(len(b.slots) - 1)
			sum, worst := 0, uint32(0)
			for at, sl := range b.slots {
				if sl.head != 0 {
					d := (uint32(at) - sl.hash>>b.shift) & mask
					sum += int(d)
					worst = max(worst, d)
				}
			}
			if mean := float64(sum) / float64(b.keys); mean > 1 || worst > 100 {
				t.Errorf("%d keys in %d slots: %.2f slots from home on average, %d at worst", b.keys, len(b.slots), mean, worst)
			}
		})
	}
}

// Keys whose home is the same slot, and the last slot so that probing wraps.
func TestCollidingKeysAreFoundWhicheverLeaves(t *testing.T) {
	var tags []int32
	for tag := int32(0); len(tags) < 7; tag++ {
		if h := hash(1, 3, tag) >> 28; h == 15 || h == 0 && len(tags)%3 == 2 {
			tags = append(tags, tag)
		}
	}
	for leaver := range tags {
		var tb Table
		for round := range 2 {
			for i, tag := range tags {
				tb.Post(1, 3, tag, uint32(10*round+i))
			}
		}
		for round := range uint32(2) {
			if id, ok := tb.Arrive(1, 3, tags[leaver]); !ok || id != 10*round+uint32(leaver) {
				t.Fatalf("leaver %d: Arrive = %d, %v", leaver, id, ok)
			}
			if err := tb.check(); err != nil {
				t.Fatalf("leaver %d: %v", leaver, err)
			}
		}
		if len(tb.posted.class[exact].slots) != minBins {
			t.Fatal("the bins grew, so the keys do not collide")
		}
		for i, tag := range tags {
			if id, ok := tb.Arrive(1, 3, tag); ok != (i != leaver) || ok && id != uint32(i) {
				t.Fatalf("leaver %d: Arrive of %d = %d, %v", leaver, i, id, ok)
			}
		}
	}
}

// The whole 32 bits of the hash may agree: the keys themselves have to decide.
func TestKeysOfEqualHashAreToldApart(t *testing.T) {
	for name, key := range map[string]func(i uint32) (ctx uint32, src, tag int32){
		"context": func(i uint32) (uint32, int32, int32) { return i, 3, 7 },
		"source":  func(i uint32) (uint32, int32, int32) { return 1, int32(i * 0x9e3779b1 >> 1), 7 },
		"tag":     func(i uint32) (uint32, int32, int32) { return 1, 3, int32(i * 0x9e3779b1 >> 1) },
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(map[uint32]uint32)
			var a, b uint32
			for ; ; b++ {
				if b == 1<<20 {
					t.Fatal("no two keys of equal hash")
				}
				h := hash(key(b))
				var ok bool
				if a, ok = seen[h]; ok {
					break
				}
				seen[h] = b
			}
			ctxA, srcA, tagA := key(a)
			ctxB, srcB, tagB := key(b)
			var tb Table
			tb.Post(ctxA, srcA, tagA, 1)
			if id, ok := tb.Arrive(ctxB, srcB, tagB); ok {
				t.Fatalf("took %d, the receive of another key", id)
			}
			tb.Post(ctxB, srcB, tagB, 2)
			if err := tb.check(); err != nil {
				t.Error(err)
			}
			if id, _ := tb.Arrive(ctxB, srcB, tagB); id != 2 {
				t.Errorf("took %d, want 2", id)
			}
			if id, _ := tb.Arrive(ctxA, srcA, tagA); id != 1 {
				t.Errorf("took %d, want 1", id)
			}
		})
	}
}

// Look-ups that end where they begin are not counted, those that go on are.
func TestProbesAreCounted(t *testing.T) {
	var q Table
	q.Post(0, 1, 1, 1)
	if _, ok := q.Arrive(0, 1, 1); !ok || q.Probes() != 0 {
		t.Errorf("a receive beside the table took %d probes", q.Probes())
	}
	q.Post(0, AnySource, 1, 2)
	before := q.Probes()
	if _, ok := q.Arrive(0, 7, 1); !ok || q.Probes() == before {
		t.Errorf("a wildcard receive took no probe beside the %d before", before)
	}
	before = q.Probes()
	for tag := range int32(100) {
		q.AddUnexpected(0, 1, tag, uint32(tag))
	}
	for tag := range int32(100) {
		if _, ok := q.TakeUnexpected(0, 1, tag); !ok {
			t.Fatalf("tag %d is gone", tag)
		}
	}
	if n := q.Probes() - before; n < 100 || n > 1000 {
		t.Errorf("100 messages took %d probes", n)
	}
}
