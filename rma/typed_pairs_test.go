package rma

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
)

// Pairs of all kinds are fetched and replaced by all ranks in turns, packed or with their
// padding at the origin, and the padding at the target stays.
func TestPairsAreFetchedAndReplaced(t *testing.T) {
	const elems = 200 // of which some packets and chunks have a part
	eachWay(t, func(t *testing.T, n int, how way) {
		g := newRig(t, n, how)
		for k := datatype.FloatInt; k <= datatype.TwoDouble; k++ {
			pair := datatype.Of(k)
			_, extent := pair.Extent()
			size := pair.Size()
			list := must(datatype.Vector(elems, 1, 2, pair))
			all := g.windows(t, uint32(16*int(k)), 2*elems*extent)
			now := func(w *Win) []byte {
				b := make([]byte, elems*size)
				if _, err := datatype.Pack(list, 1, w.mem, 0, b, 0); err != nil {
					t.Fatal(err)
				}
				return b
			}
			for round, w := range all {
				target := all[(round+1)%n]
				was, src := now(target), pattern(elems*size, round, int(k))
				mem, old := make([]byte, elems*extent), make([]byte, elems*extent)
				if _, err := datatype.Unpack(pair, elems, mem, 0, src, 0); err != nil {
					t.Fatal(err)
				}
				locked(t, []*Win{w}, func(ctx context.Context, w *Win) error {
					x := Typed{Code: op.CodeReplace, Kind: op.Kind(k), Target: target.rank, Type: list, Count: 1,
						Src: Elements{Type: pair, Count: elems, Mem: mem}, Old: Elements{Type: pair, Count: elems, Mem: old}}
					again := x
					again.Code, again.Src = op.CodeNoOp, Elements{}
					got := make([]byte, elems*size)
					for _, c := range []struct {
						x    *Typed
						want []byte
					}{{&x, was}, {&again, src}} {
						if err := errors.Join(w.DoTyped(c.x), w.flush(ctx, target.rank, true)); err != nil {
							return err
						}
						if _, err := datatype.Pack(pair, elems, old, 0, got, 0); err != nil {
							return err
						}
						if !bytes.Equal(got, c.want) {
							t.Errorf("%v: code %d returns % x, want % x", k, c.x.Code, got, c.want)
						}
					}
					return nil
				})
				if got := now(target); !bytes.Equal(got, src) {
					t.Errorf("%v: the window has % x, want % x", k, got, src)
				}
				gap := bytes.Clone(target.mem)
				if _, err := datatype.Unpack(list, 1, gap, 0, make([]byte, elems*size), 0); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(gap, make([]byte, len(gap))) {
					t.Errorf("%v: bytes that are no element's have changed", k)
				}
			}
			each(t, all, func(ctx context.Context, w *Win) error { w.Discard(); return nil })
		}
	})
}

// An accumulate of pairs whose type is too long to be sent is refused with words.
func TestPairsOfATypeThatIsTooLongAreRefused(t *testing.T) {
	g := newRig(t, 2, packets)
	g.engines[0].encodings.longest = 5
	all := g.windows(t, 16, 64)
	locked(t, all[:1], func(ctx context.Context, w *Win) error {
		x := Typed{Code: op.CodeReplace, Kind: op.Kind(datatype.TwoInt), Target: 1, Type: must(datatype.Vector(2, 1, 2, datatype.Of(datatype.TwoInt))), Count: 1,
			Src: Elements{Type: datatype.Of(datatype.TwoInt), Count: 2, Mem: make([]byte, 16)}}
		if err := w.DoTyped(&x); !errors.Is(err, ErrTypeTooLong) {
			t.Errorf("DoTyped: %v", err)
		}
		if _, err := w.BeginTyped(&x); !errors.Is(err, ErrTypeTooLong) {
			t.Errorf("BeginTyped: %v", err)
		}
		return nil
	})
}

// Packed bytes have no kind that an operator could combine, whatever a peer says.
func TestNoOperatorFitsPackedBytes(t *testing.T) {
	for code := range op.Code(40) {
		p := typedPiece{code: code, n: 8}
		if p.fits(datatype.Of(datatype.Packed), 0) != (code == codeBytes) {
			t.Errorf("operator %d", code)
		}
	}
}
