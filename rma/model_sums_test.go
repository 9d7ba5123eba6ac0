package rma

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	ops "github.com/weft-mpi/weft/internal/op"
)

// Ranks that go different ways accumulate to the same elements at once, of all kinds,
// aligned or not: the sums are exact.
func TestAccumulatesOfAllWaysAddUp(t *testing.T) {
	const n, elems, rounds = 4, 4, 150
	m, err := newMesh(t.Name(), n, 64, memNetworks(n), func(a, b int) way { return way((a + b) % int(ways)) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for k := ops.Int8; k <= ops.Complex128; k++ {
		for shift := range 2 {
			if shift > 0 && (raceEnabled || k.Size() == 1) {
				continue
			}
			size := k.Size()
			var mem [][]byte
			for range n {
				mem = append(mem, alignedBytes(size*elems+shift))
			}
			all, err := m.window(uint32(16+32*int(k)+16*shift), mem, 1)
			if err != nil {
				t.Fatal(err)
			}
			var counts [n][n][elems]int // by origin and target
			each(t, all, func(ctx context.Context, w *Win) error {
				r := rand.New(rand.NewPCG(uint64(k), uint64(w.rank)))
				if err := w.LockAll(ctx, 0); err != nil {
					return err
				}
				for range rounds {
					target, from := r.IntN(n), r.IntN(elems)
					count := 1 + r.IntN(elems-from)
					x := Transfer{Code: ops.CodeSum, Kind: k, Target: target, At: shift + from*size}
					for i := range count {
						v := r.IntN(7) - 3
						x.Src = append(x.Src, element(k, v)...)
						counts[w.rank][target][from+i] += v
					}
					if r.IntN(3) == 0 {
						x.Old = make([]byte, len(x.Src))
					}
					if err := w.Do(&x); err != nil {
						return err
					}
				}
				return w.UnlockAll(ctx)
			})
			for target := range n {
				for i := range elems {
					sum := 0
					for o := range n {
						sum += counts[o][target][i]
					}
					if got, want := mem[target][shift+i*size:][:size], element(k, sum); !sameZeros(k, append(alignedBytes(0), got...), want) {
						t.Error(fmt.Errorf("%v: element %d of rank %d is % x, want % x", k, i, target, got, want))
					}
				}
			}
			each(t, all, func(ctx context.Context, w *Win) error { w.Discard(); return nil })
		}
	}
}
