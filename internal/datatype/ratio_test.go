package datatype

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkRatio measures packing, the loop by hand and a copy of as many bytes in
// turns, and reports the best time of the first relative to those of the others:
// on a shared machine only such ratios mean something.
func BenchmarkRatio(b *testing.B) {
	for _, s := range shapes {
		for _, bytes := range []int{4 << 10, 64 << 10, 1 << 20} {
			bytes = bytes / s.block * s.block
			b.Run(fmt.Sprintf("vect:%d:%d/%d", s.stride, s.block, bytes), func(b *testing.B) {
				t, mem := s.typ(bytes)
				packed := make([]byte, bytes)
				var c Cursor
				best := turns(b, (1<<20)/bytes+2,
					func() { _ = c.Reset(t, 1, mem, 0); c.Pack(packed) },
					func() { byHand(packed, mem, s) },
					func() { _ = c.Reset(t, 1, mem, 0); c.Unpack(packed) },
					func() { backByHand(packed, mem, s) },
					func() { copy(packed, mem) })
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(best[0]/best[1], "pack/hand")
				b.ReportMetric(best[2]/best[3], "unpack/hand")
				b.ReportMetric(best[0]/best[4], "pack/copy")
			})
		}
	}
}

// turns calls each function n times, b.N times over, and returns its best time.
func turns(b *testing.B, n int, fs ...func()) []float64 {
	best := make([]float64, len(fs))
	for b.Loop() {
		for i, f := range fs {
			f() // the caches are as it leaves them
			start := time.Now()
			for range n {
				f()
			}
			if d := float64(time.Since(start)); best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	return best
}

// byHand is what a program has instead of a type.
func byHand(packed, mem []byte, s shape) {
	at := 0
	for from := 0; at < len(packed); from += s.stride {
		at += copy(packed[at:], mem[from:from+s.block])
	}
}

func backByHand(packed, mem []byte, s shape) {
	at := 0
	for to := 0; at < len(packed); to += s.stride {
		at += copy(mem[to:to+s.block], packed[at:])
	}
}
