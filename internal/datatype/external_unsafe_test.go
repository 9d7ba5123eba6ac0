package datatype

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// The values and their bytes in external32 are written out: of each kind in the
// table of MPI-4.0 §14.5.2, in big-endian two's complement or IEEE format.
func TestExternal32IsTheStandardsTable(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		mem  []byte
		want string
	}{
		{Bool, memoryOf([]bool{true, false}), "0100"},
		{Int8, memoryOf([]int8{-2, 5}), "fe05"},
		{Uint8, memoryOf([]uint8{254, 5}), "fe05"},
		{Int16, memoryOf([]int16{-2, 0x1234}), "fffe1234"},
		{Uint16, memoryOf([]uint16{0xfffe, 0x1234}), "fffe1234"},
		{Int32, memoryOf([]int32{-2, 0x12345678}), "fffffffe12345678"},
		{Uint32, memoryOf([]uint32{0xdeadbeef}), "deadbeef"},
		{Int64, memoryOf([]int64{-2}), "fffffffffffffffe"},
		{Uint64, memoryOf([]uint64{0x123456789abcdef0}), "123456789abcdef0"},
		{Float32, memoryOf([]float32{1, -0.1}), "3f800000bdcccccd"},
		{Float64, memoryOf([]float64{1, -0.1}), "3ff0000000000000bfb999999999999a"},
		{Float64, memoryOf([]float64{math.Inf(1)}), "7ff0000000000000"},
		{Complex64, memoryOf([]complex64{1 + 2i}), "3f80000040000000"},
		{Complex128, memoryOf([]complex128{1 + 2i}), "3ff00000000000004000000000000000"},
		{Byte, []byte{1, 2, 3}, "010203"},
		{Packed, []byte{1, 2, 3}, "010203"},
		{DoubleInt, memoryOf([]struct {
			v float64
			i int32
		}{{1, 7}}), "3ff000000000000000000007"},
		{ShortInt, memoryOf([]struct {
			v int16
			i int32
		}{{-1, 7}, {2, 8}}), "ffff00000007000200000008"},
		{TwoInt, memoryOf([][2]int32{{1, 2}}), "0000000100000002"},
	} {
		count := len(c.mem) / c.kind.Extent()
		size, err := Of(c.kind).PackSize(count)
		got := make([]byte, 3+size)
		if err != nil {
			t.Fatal(err)
		}
		if pos, err := PackExternal(Of(c.kind), count, c.mem, 0, got, 3); err != nil || pos != len(got) {
			t.Errorf("%v: %d, %v", c.kind, pos, err)
		}
		if hex.EncodeToString(got[3:]) != c.want || !bytes.Equal(got[:3], make([]byte, 3)) {
			t.Errorf("%v: %x, not %s", c.kind, got, c.want)
		}
	}
}

// memoryOf is the memory of a slice, which has no pointers.
func memoryOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

func TestExternal32TurnsEachElementAndBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		// Many elements of few bytes cross the pieces that are converted at a time.
		want := bytes.Clone(s.packed)
		at := 0
		for range s.count {
			for _, e := range s.m.data() {
				for words := want[at : at+e.kind.Size()]; len(words) > 0; words = words[traits[e.kind].word:] {
					swapWord(words[:traits[e.kind].word])
				}
				at += e.kind.Size()
			}
		}
		got := make([]byte, len(want))
		if _, err := PackExternal(s.t, s.count, s.mem, s.origin, got, 0); err != nil || !bytes.Equal(got, want) {
			rt.Fatalf("%v:\n%x, not\n%x:%s", err, got, want, s.text)
		}
		if s.overlaps {
			return
		}
		mem := make([]byte, len(s.mem))
		if pos, err := UnpackExternal(s.t, s.count, mem, s.origin, got, 0); err != nil || pos != len(got) {
			rt.Fatalf("unpacked to %d: %v", pos, err)
		}
		for i, where := range s.where {
			if mem[where] != s.packed[i] {
				rt.Fatalf("packed byte %d comes back as %x, not %x:%s", i, mem[where], s.packed[i], s.text)
			}
		}
		if !bytes.Equal(got, want) {
			rt.Fatalf("UnpackExternal has changed its source:%s", s.text)
		}
	})
}

// swapWord turns one word from the machine's order to the big-endian one.
func swapWord(b []byte) {
	one := uint16(1)
	if memoryOf([]uint16{one})[0] == 0 {
		return
	}
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
}

func TestExternal32OfMoreThanAPieceAtATime(t *testing.T) {
	record := must(Struct([]int{1, 5, 1}, []int{0, 4, 24}, []*Type{Of(Int16), Of(Int32), Of(Complex128)}))
	count := 9 * scratch / record.Size() // pieces begin within runs too
	_, extent := record.Extent()
	mem := make([]byte, count*extent)
	for i := range mem {
		mem[i] = byte(i * 31 >> 2)
	}
	size, _ := record.PackSize(count)
	packed, external := make([]byte, size), make([]byte, size)
	if _, err := PackExternal(record, count, mem, 0, external, 0); err != nil {
		t.Fatal(err)
	}
	back := make([]byte, len(mem))
	if _, err := UnpackExternal(record, count, back, 0, external, 0); err != nil {
		t.Fatal(err)
	}
	again := make([]byte, size)
	for _, p := range []struct{ mem, to []byte }{{mem, packed}, {back, again}} {
		if _, err := Pack(record, count, p.mem, 0, p.to, 0); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(packed, again) {
		t.Error("elements come back different")
	}
}
