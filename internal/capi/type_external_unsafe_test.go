package capi

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"
	"unsafe"

	"github.com/weft-mpi/weft/mpi"
)

const longHandle = 0x20a

// little is numbers as memory has them.
func little(t *testing.T, v any) []byte {
	t.Helper()
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Elements that external32 has in another form, with golden bytes, and back.
func TestExternal32(t *testing.T) {
	vector := commit(t, made(t, typeVector, 2, 1, 2, longHandle))
	for _, c := range []struct {
		name   string
		handle uint64
		memory []byte
		want   string
	}{
		{"longs", longHandle, little(t, []int64{-5, math.MaxInt32}), "fffffffb7fffffff"},
		{"unsigned long", 0x20e, little(t, uint64(math.MaxUint32)), "ffffffff"},
		{"wide character", 0x23c, little(t, int32(0x20ac)), "20ac"},
		{"a long and an int", 0x22a, little(t, []int64{-2, 3}), "fffffffe00000003"},
		{"every second long", vector, little(t, []int64{1, 0, 2}), "0000000100000002"},
		{"16 bytes", 0x2e1, little(t, []int64{2, -1}), "ffffffffffffffff0000000000000002"},
		{"int", intHandle, little(t, int32(1)), "00000001"},
	} {
		extent := types.get(c.handle).extent
		n := (len(c.memory) + extent - 1) / extent
		mem, back, packed := outside(t, 64), outside(t, 64), outside(t, 64)
		copy(unsafe.Slice((*byte)(mem), 64), c.memory)
		position, size, name := outside(t, 8), outside(t, 8), outside(t, 16)
		copy(unsafe.Slice((*byte)(name), 16), "external32")
		err := packExternal(newArgs(t, name, mem, n, c.handle, packed, 64, position))
		got := unsafe.Slice((*byte)(packed), *(*int)(position))
		if err != nil || hex.EncodeToString(got) != c.want {
			t.Errorf("%s: packed %x, not %s: %v", c.name, got, c.want, err)
		}
		if err := packExternalSize(newArgs(t, name, n, c.handle, size)); err != nil || *(*int)(size) != len(got) {
			t.Errorf("%s: size %d, not %d: %v", c.name, *(*int)(size), len(got), err)
		}
		*(*int)(position) = 0
		err = unpackExternal(newArgs(t, name, packed, len(got), position, back, n, c.handle))
		if err != nil || *(*int)(position) != len(got) || !bytes.Equal(unsafe.Slice((*byte)(back), len(c.memory)), c.memory) {
			t.Errorf("%s: unpacked %x: %v", c.name, unsafe.Slice((*byte)(back), len(c.memory)), err)
		}
		*(*int)(position) = 0
		err = packExternal(newArgs(t, name, mem, n, c.handle, packed, len(got)-1, position))
		if mpi.ErrorClass(err) != mpi.ErrBuffer {
			t.Errorf("%s: packed in %d bytes: %v", c.name, len(got)-1, err)
		}
	}
	if narrowed(make([]byte, 4), []byte{0, 0, 0, 0, 0x80, 0, 0, 0}) || narrowed(make([]byte, 4), []byte{0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0}) {
		t.Error("a long of 33 bits fits in 4 bytes")
	}
}

// Long doubles and numbers of IEEE with 128 bits: the bytes of both.
func TestQuad(t *testing.T) {
	if !x87 {
		t.Skip("long doubles have the form of external32 here")
	}
	for _, c := range []struct {
		name     string
		mantissa uint64
		top      uint16
		quad     string
		again    bool // the quad is exactly that long double
	}{
		{"0", 0, 0, "00000000000000000000000000000000", true},
		{"-1.5", 0xc000000000000000, 0xbfff, "bfff8000000000000000000000000000", true},
		{"a third", 0xaaaaaaaaaaaaaaab, 0x3ffd, "3ffd5555555555555556000000000000", true},
		{"infinity", 0x8000000000000000, 0x7fff, "7fff0000000000000000000000000000", true},
		{"no number", 0xc000000000000000, 0x7fff, "7fff8000000000000000000000000000", true},
		{"the least", 1, 0, "00000000000000000002000000000000", true},
		{"just below 2", 0xffffffffffffffff, 0x3fff, "3ffffffffffffffffffe000000000000", true},
		{"2, rounded", 0x8000000000000000, 0x4000, "3fffffffffffffffffff000000000000", false},
		{"a third, rounded", 0xaaaaaaaaaaaaaaab, 0x3ffd, "3ffd5555555555555555555555555555", false},
	} {
		long, quad := make([]byte, 16), make([]byte, 16)
		binary.LittleEndian.PutUint64(long, c.mantissa)
		binary.LittleEndian.PutUint16(long[8:], c.top)
		if toQuad(quad, long); c.again && hex.EncodeToString(quad) != c.quad {
			t.Errorf("%s: %x, not %s", c.name, quad, c.quad)
		}
		_, _ = hex.Decode(quad, []byte(c.quad))
		back := bytes.Repeat([]byte{0xee}, 16)
		if fromQuad(back, quad); !bytes.Equal(back, long) {
			t.Errorf("%s: back %x, not %x", c.name, back, long)
		}
	}
}
