package datatype

import (
	"fmt"
	"testing"
)

// shape is a vector of blocks of bytes as OSU's benchmarks spell it: vect:128:64.
type shape struct{ stride, block int }

var shapes = []shape{{8, 4}, {16, 8}, {24, 12}, {32, 16}, {64, 24}, {64, 32}, {96, 48}, {128, 64}, {128, 80}, {256, 128}, {512, 256}, {8192, 4096}}

func (s shape) typ(bytes int) (*Type, []byte) {
	t := must(Vector(bytes/s.block, s.block, s.stride, Of(Byte)))
	_, hi, _ := t.Span(1)
	return t, make([]byte, hi)
}

// BenchmarkPack is a message's packing with all that belongs to it: the cursor is
// set up, and packs pieces of 64 KB.
func BenchmarkPack(b *testing.B) {
	each(b, func(b *testing.B, s shape, bytes int) {
		t, mem := s.typ(bytes)
		piece := make([]byte, min(bytes, 64<<10))
		var c Cursor
		for b.Loop() {
			if err := c.Reset(t, 1, mem, 0); err != nil {
				b.Fatal(err)
			}
			for c.Pack(piece) > 0 {
			}
		}
	})
}

func BenchmarkUnpack(b *testing.B) {
	each(b, func(b *testing.B, s shape, bytes int) {
		t, mem := s.typ(bytes)
		piece := make([]byte, min(bytes, 64<<10))
		var c Cursor
		for b.Loop() {
			if err := c.Reset(t, 1, mem, 0); err != nil {
				b.Fatal(err)
			}
			for c.Unpack(piece) > 0 {
			}
		}
	})
}

// BenchmarkByHand is the loop that a program would have instead of a type.
func BenchmarkByHand(b *testing.B) {
	each(b, func(b *testing.B, s shape, bytes int) {
		_, mem := s.typ(bytes)
		piece := make([]byte, min(bytes, 64<<10))
		blocks := bytes / s.block
		for b.Loop() {
			at := 0
			for i := range blocks {
				from := i * s.stride
				at += copy(piece[at:at+s.block], mem[from:from+s.block])
				if at+s.block > len(piece) {
					at = 0
				}
			}
		}
	})
}

func each(b *testing.B, f func(b *testing.B, s shape, bytes int)) {
	for _, s := range shapes {
		for _, bytes := range []int{4 << 10, 64 << 10, 1 << 20} {
			if bytes%s.block != 0 {
				bytes = bytes / s.block * s.block
			}
			b.Run(fmt.Sprintf("vect:%d:%d/%d", s.stride, s.block, bytes), func(b *testing.B) {
				b.SetBytes(int64(bytes))
				f(b, s, bytes)
			})
		}
	}
}

// BenchmarkTypes packs 64 KB or so of types that programs have besides vectors.
func BenchmarkTypes(b *testing.B) {
	record := must(TypeOf[struct {
		A int32
		B float64
		C [3]float32
	}]())
	disps := make([]int, 8192)
	for i := range disps {
		disps[i] = (i * 7919) % 16384
	}
	lens := make([]int, 1024)
	for i := range lens {
		lens[i] = 1 + i%15
	}
	pairs := make([]int, 2048)
	for i := range pairs {
		pairs[i] = 37*i + i%5
	}
	for _, c := range []struct {
		name  string
		t     *Type
		count int
	}{
		{"structs", record, 2048},
		{"a transposed matrix", must(Resized(must(Vector(90, 1, 90, Of(Float64))), 0, 8)), 90},
		{"a face of a cube", must(Subarray([]int{90, 90, 90}, []int{90, 90, 1}, []int{0, 0, 0}, OrderC, Of(Float64))), 1},
		{"three layers of a face", must(Subarray([]int{52, 52, 52}, []int{52, 52, 3}, []int{0, 0, 0}, OrderC, Of(Float64))), 1},
		{"indexed blocks of 8", must(IndexedBlock(1, disps, Of(Float64))), 1},
		{"indexed blocks of all lengths", must(Indexed(lens, pairs[:1024], Of(Float64))), 1},
		{"indexed structs", must(IndexedBlock(1, pairs, record)), 1},
		{"pairs", must(Contiguous(4096, Of(DoubleInt))), 1},
		{"short pairs", must(Contiguous(8192, Of(ShortInt))), 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, hi, _ := c.t.Span(c.count)
			mem, packed := make([]byte, hi), make([]byte, c.count*c.t.Size())
			b.SetBytes(int64(len(packed)))
			var cur Cursor
			for b.Loop() {
				if err := cur.Reset(c.t, c.count, mem, 0); err != nil {
					b.Fatal(err)
				}
				cur.Pack(packed)
			}
		})
	}
}
