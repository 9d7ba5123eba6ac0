package datatype

import (
	"bytes"
	"sync"
	"testing"
)

// Each goroutine commits the type, and uses it as soon as it is committed.
func TestATypeIsCommittedByManyAtOnce(t *testing.T) {
	mem := make([]byte, 4000)
	for i := range mem {
		mem[i] = byte(i * 11)
	}
	for range 50 {
		typ, err := Indexed([]int{3, 1, 4, 1, 5}, []int{0, 9, 26, 53, 58}, must(Struct([]int{1, 1}, []int{0, 8}, []*Type{Of(Int16), Of(Float64)})))
		if err != nil {
			t.Fatal(err)
		}
		packed := make([][]byte, 4)
		var wg sync.WaitGroup
		for i := range packed {
			wg.Go(func() {
				if err := typ.Commit(); err != nil || !typ.Committed() {
					t.Errorf("committed: %v, %v", typ.Committed(), err)
				}
				packed[i] = make([]byte, typ.Size())
				if _, err := Pack(typ, 1, mem, 0, packed[i], 0); err != nil {
					t.Error(err)
				}
				if overlaps, known := typ.Overlaps(1); overlaps || !known {
					t.Errorf("overlaps: %v, known: %v", overlaps, known)
				}
			})
		}
		wg.Wait()
		for _, p := range packed {
			if !bytes.Equal(p, packed[0]) {
				t.Fatal("goroutines pack different bytes")
			}
		}
	}
}

func TestPredefinedTypesAreReady(t *testing.T) {
	for k := Bool; k <= lastKind; k++ {
		typ := Of(k)
		if kind, ok := typ.Kind(); !typ.Committed() || kind != k || !ok || typ.Size() != k.Size() {
			t.Errorf("%v: committed %v, kind %v, %d bytes", k, typ.Committed(), kind, typ.Size())
		}
		if _, extent := typ.Extent(); extent != k.Extent() || typ.Dense() != (k.Size() == k.Extent()) {
			t.Errorf("%v: extent %d, dense %v", k, extent, typ.Dense())
		}
		if c, _, _, _ := typ.Envelope(); c != CombinerNamed {
			t.Errorf("%v is made by %v", k, c)
		}
	}
	for _, k := range []Kind{0, lastKind + 1, 255} {
		if Of(k) != nil || k.Size() != 0 || k.Extent() != 0 {
			t.Errorf("there is a type of kind %v", k)
		}
	}
}

// Extent is the distance in bytes between two elements that follow one another; 0
// if the kind is unknown. It differs from Size for some pairs.
func (k Kind) Extent() int {
	if !k.known() {
		return 0
	}
	return traits[k].extent
}
