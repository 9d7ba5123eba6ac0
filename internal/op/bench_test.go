package op_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/internal/op"
)

// bench times an operator on each kind that it fits, on operands in cache.
func bench(b *testing.B, o *op.Op, bytes int) {
	for k := op.Bool; k <= op.TwoDouble; k++ {
		if f, err := o.Func(k); err == nil && bytes%k.Size() == 0 {
			b.Run(k.String(), func(b *testing.B) {
				lower, upper, to := aligned(bytes), aligned(bytes), aligned(bytes)
				b.SetBytes(int64(bytes))
				b.ReportAllocs()
				for b.Loop() {
					f(lower, upper, to)
				}
			})
		}
	}
}

func BenchmarkSum8B(b *testing.B)   { bench(b, op.Sum, 8) }
func BenchmarkSum64KB(b *testing.B) { bench(b, op.Sum, 64<<10) }

func BenchmarkOps64KB(b *testing.B) {
	for _, o := range predefined {
		b.Run(fmt.Sprint(o), func(b *testing.B) { bench(b, o, 64<<10) })
	}
}

// BenchmarkUser times the user's forms of a sum of one float64, for where the
// result lies.
func BenchmarkUser(b *testing.B) {
	add := func(lower, upper float64) float64 { return lower + upper }
	addAll := func(in, inout []float64) {
		for i := range inout {
			inout[i] += in[i]
		}
	}
	for _, o := range []*op.Op{op.Of("Of", true, add), op.Vector("Vector", true, addAll)} {
		f, err := o.Func(op.Float64)
		if err != nil {
			b.Fatal(err)
		}
		lower, upper, to := aligned(8), aligned(8), aligned(8)
		for name, to := range map[string][]byte{"apart": to, "lower": lower, "upper": upper} {
			b.Run(fmt.Sprint(o, "/", name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f(lower, upper, to)
				}
			})
		}
	}
}

func BenchmarkKindOf(b *testing.B) {
	for b.Loop() {
		if op.KindOf[float64]() != op.Float64 {
			b.Fatal("float64 is not Float64")
		}
	}
}
