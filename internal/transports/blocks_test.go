package transports

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Blocks do not overlap, are zeroed, and the memory goes back when none is used.
func TestBlocksShareMemory(t *testing.T) {
	slabsNow, most := 0, 0
	s := slabs{
		alloc: func(n int) ([]byte, error) {
			slabsNow++
			most = max(most, slabsNow)
			return make([]byte, n), nil
		},
		free: func([]byte) error { slabsNow--; return nil },
	}
	type block struct {
		b    []byte
		free func()
		id   byte
	}
	r := rand.New(rand.NewPCG(1, 2))
	var all []block
	whole := func(x block) bool { return bytes.Equal(x.b, bytes.Repeat([]byte{x.id}, len(x.b))) }
	for i := range 20_000 {
		if len(all) > 0 && r.IntN(2) == 0 {
			k := r.IntN(len(all))
			if !whole(all[k]) {
				t.Fatalf("a block of %d bytes has changed", len(all[k].b))
			}
			all[k].free()
			all[k] = all[len(all)-1]
			all = all[:len(all)-1]
			continue
		}
		x := block{id: byte(i%255 + 1)}
		var err error
		if x.b, x.free, err = s.get(r.IntN(smallMost + 1)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x.b, make([]byte, len(x.b))) || cap(x.b) != len(x.b) {
			t.Fatalf("a block of %d bytes is not zeroed, or not cut off", len(x.b))
		}
		copy(x.b, bytes.Repeat([]byte{x.id}, len(x.b)))
		all = append(all, x)
	}
	for _, x := range all {
		if !whole(x) {
			t.Fatalf("a block of %d bytes has changed", len(x.b))
		}
		x.free()
	}
	if slabsNow != 0 || most == 0 {
		t.Errorf("%d slabs of up to %d are left", slabsNow, most)
	}
}

// Blocks of 8 bytes take a cache line each.
func TestBlocksOfACacheLineAreClose(t *testing.T) {
	n := 0
	s := slabs{alloc: func(bytes int) ([]byte, error) { n += bytes; return make([]byte, bytes), nil }}
	for range 10_000 {
		if _, _, err := s.get(8); err != nil {
			t.Fatal(err)
		}
	}
	if n > 10_000*smallLeast+smallSlab {
		t.Errorf("10000 blocks of 8 bytes take %d", n)
	}
}
