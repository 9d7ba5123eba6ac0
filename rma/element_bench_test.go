package rma

import (
	"fmt"
	"testing"

	ops "github.com/weft-mpi/weft/internal/op"
)

func TestAccumulatesDoNotAllocate(t *testing.T) {
	window := alignedBytes(64)
	eachElement(t, func(t *testing.T, c ops.Code, k ops.Kind) {
		if n := testing.AllocsPerRun(20, func() {
			var operands, old [32]byte // on the stack
			if needsOwner(k.Size(), addressOf(window)) {
				accumulateOwned(c, k, window[:32], operands[:], old[:])
			} else {
				accumulate(c, k, window[:32], operands[:], old[:])
			}
			accumulateOwned(c, k, window[1:33], operands[:], old[:])
			if comparesBits(k) == nil {
				compareAndSwap(k, window[:k.Size()], operands[:k.Size()], operands[:k.Size()], old[:k.Size()])
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func BenchmarkAccumulate(b *testing.B) {
	for _, c := range []struct {
		o    *ops.Op
		k    ops.Kind
		n    int
		want bool // the old elements
	}{
		{ops.Sum, ops.Int64, 1, false}, {ops.Sum, ops.Int64, 1, true}, {ops.Sum, ops.Int32, 1, true},
		{ops.Replace, ops.Int64, 1, true}, {ops.NoOp, ops.Int64, 1, true}, {ops.BAnd, ops.Uint64, 1, false},
		{ops.BXor, ops.Uint64, 1, false}, {ops.Sum, ops.Float64, 1, false}, {ops.Max, ops.Float64, 1, false},
		{ops.Sum, ops.Complex64, 1, false}, {ops.Sum, ops.Uint8, 1, false}, {ops.Sum, ops.Uint8, 8, false},
		{ops.Max, ops.Int8, 8, false}, {ops.Sum, ops.Int16, 1, true}, {ops.Sum, ops.Int64, 64, false},
		{ops.Sum, ops.Uint8, 512, false}, {ops.Sum, ops.Float64, 64, false},
	} {
		b.Run(fmt.Sprintf("%v/%v/%d/%v", c.o, c.k, c.n, c.want), func(b *testing.B) {
			size := c.n * c.k.Size()
			window, operands, old := alignedBytes(size), alignedBytes(size), alignedBytes(size)
			operands[0] = 1
			if !c.want {
				old = nil
			}
			code := c.o.Code()
			for b.Loop() {
				accumulate(code, c.k, window, operands, old)
			}
		})
	}
}

func BenchmarkCompareAndSwap(b *testing.B) {
	for _, k := range []ops.Kind{ops.Int64, ops.Int32, ops.Uint8} {
		b.Run(k.String(), func(b *testing.B) {
			n := k.Size()
			window, compare, value, old := alignedBytes(n), alignedBytes(n), alignedBytes(n), alignedBytes(n)
			for b.Loop() {
				compareAndSwap(k, window, compare, value, old)
			}
		})
	}
}
