package wire_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

func TestHeadersOfTypedOperationsHaveTheirGoldenBytes(t *testing.T) {
	piece := wire.TypedPiece{At: 0x0102030405060708, Count: 0x1112131415161718, Offset: 0x2122232425262728, Type: 0x31323334, Code: 0x41, Kind: 0x51}
	const bytesOfPiece = "08070605 04030201 18171615 14131211 28272625 24232221 34333231 4151"
	access := wire.Access{At: 1, Bytes: 2, Phase: 0x6162636465666768, Call: 0x71, Code: 3, Kind: 4, Ends: 0x81}
	for _, c := range []struct {
		name string
		fill func(b []byte) []byte
		want string
	}{
		{"RType", func(b []byte) []byte { return wire.MakeRType(b, 0x01020304, 0x11121314, 0x21222324) }, "04030201 14131211 24232221 00000000"},
		{"RAccTyped", func(b []byte) []byte { return wire.MakeRAccTyped(b, piece) }, bytesOfPiece + "0000"},
		{"RGetTyped", func(b []byte) []byte { return wire.MakeRGetTyped(b, piece, 0x6162636465666768, 0x7172737475767778) },
			bytesOfPiece + "0000 68676665 64636261 78777675 74737271"},
		{"RAccessTyped", func(b []byte) []byte { return wire.MakeRAccessTyped(b, piece, 0x9192939495969798, access) },
			bytesOfPiece + "7181 98979695 94939291 68676665 64636261"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bytes.Repeat([]byte{0xee}, fabric.MaxHeader) // it may hold anything before
			h := c.fill(b)
			if got, want := hex.EncodeToString(h), strings.ReplaceAll(c.want, " ", ""); got != want {
				t.Errorf("bytes %s, want %s", got, want)
			}
			if n := bytes.Count(b[len(h):], []byte{0xee}); n != len(b)-len(h) {
				t.Error("bytes behind the header were written")
			}
		})
	}
	for i, k := range []uint8{wire.RType, wire.RAccTyped, wire.RGetTyped, wire.RAccessTyped} {
		if want := 0xb0 + uint8(i); k != want {
			t.Errorf("kind %#x, want %#x", k, want)
		}
	}
	for _, n := range []int{wire.RTypeSize, wire.RAccTypedSize, wire.RGetTypedSize, wire.RAccessTypedSize} {
		if n > fabric.MaxHeader {
			t.Errorf("a header takes %d bytes of %d", n, fabric.MaxHeader)
		}
	}
}

// An engine computes with these numbers unchecked, and keeps as many bytes of a type.
func TestTypesAndPiecesThatCanNotBeAreNotValid(t *testing.T) {
	for _, c := range []struct {
		name          string
		offset, total uint32
		valid         bool
	}{
		{"a byte", 0, 1, true},
		{"the last byte of the longest", wire.MaxType - 1, wire.MaxType, true},
		{"of no bytes", 0, 0, false},
		{"behind the type", 8, 8, false},
		{"too long", 0, wire.MaxType + 1, false},
	} {
		if got := wire.MakeRType(make([]byte, fabric.MaxHeader), 1, c.offset, c.total).Valid(); got != c.valid {
			t.Errorf("RType %s: valid %t, want %t", c.name, got, c.valid)
		}
	}
	good := wire.TypedPiece{At: 100, Count: 3, Offset: 8, Type: 1}
	for _, c := range []struct {
		name   string
		change func(p *wire.TypedPiece, bytes *uint64)
		valid  bool
	}{
		{"good", func(*wire.TypedPiece, *uint64) {}, true},
		{"of as many elements as there can be", func(p *wire.TypedPiece, _ *uint64) { p.Count = wire.MaxLength }, true},
		{"of more", func(p *wire.TypedPiece, _ *uint64) { p.Count = wire.MaxLength + 1 }, false},
		{"at the last address", func(p *wire.TypedPiece, _ *uint64) { p.At = math.MaxInt64 }, true},
		{"behind it", func(p *wire.TypedPiece, _ *uint64) { p.At = math.MaxInt64 + 1 }, false},
		{"behind all bytes", func(p *wire.TypedPiece, _ *uint64) { p.Offset = wire.MaxLength }, false},
		{"that is too long", func(_ *wire.TypedPiece, n *uint64) { *n = wire.MaxLength + 1 }, false},
	} {
		p, n := good, uint64(8)
		c.change(&p, &n)
		b := make([]byte, fabric.MaxHeader)
		if got := wire.MakeRGetTyped(b, p, n, 1).Valid(); got != c.valid {
			t.Errorf("RGetTyped %s: valid %t, want %t", c.name, got, c.valid)
		}
		if got := wire.MakeRAccessTyped(b, p, n, wire.Access{}).Valid(); got != c.valid {
			t.Errorf("RAccessTyped %s: valid %t, want %t", c.name, got, c.valid)
		}
		if got := wire.MakeRAccTyped(b, p).Valid(); got != (c.valid || n > 8) {
			t.Errorf("RAccTyped %s: valid %t", c.name, got)
		}
	}
}

func FuzzHeadersOfTypedOperationsComeBackAsMade(f *testing.F) {
	f.Add(uint64(0), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Add(uint64(1), uint64(math.MaxUint64), uint64(1)<<63, uint64(0x0102030405060708), uint64(3))
	f.Fuzz(func(t *testing.T, a, b, c, d, e uint64) {
		var m [fabric.MaxHeader]byte
		p := wire.TypedPiece{At: a, Count: b, Offset: c, Type: uint32(d), Code: uint8(d >> 32), Kind: uint8(d >> 40)}
		if h := wire.MakeRAccTyped(m[:], p); h.Piece() != p {
			t.Errorf("RAccTyped %x of %+v", []byte(h), p)
		}
		if h := wire.MakeRGetTyped(m[:], p, e, a^e); h.Piece() != p || h.Bytes() != e || h.Request() != a^e {
			t.Errorf("RGetTyped %x of %+v", []byte(h), p)
		}
		x := wire.Access{Phase: e, Call: uint8(d >> 48), Code: p.Code, Kind: p.Kind, Ends: uint8(d >> 56)}
		if h := wire.MakeRAccessTyped(m[:], p, a^e, x); h.Piece() != p || h.Bytes() != a^e || h.Access() != x {
			t.Errorf("RAccessTyped %x of %+v %+v", []byte(h), p, x)
		}
		if h := wire.MakeRType(m[:], uint32(a), uint32(b), uint32(c)); h.ID() != uint32(a) || h.Offset() != uint32(b) || h.Total() != uint32(c) {
			t.Errorf("RType %x of %d %d %d", []byte(h), uint32(a), uint32(b), uint32(c))
		}
	})
}

func FuzzOnlyValidHeadersOfTypedOperationsAreRead(f *testing.F) {
	for n := range fabric.MaxHeader + 2 {
		f.Add(make([]byte, n))
	}
	good := wire.TypedPiece{At: 8, Count: 2, Offset: 8, Type: 33, Code: 1, Kind: 2}
	f.Add([]byte(wire.MakeRType(make([]byte, fabric.MaxHeader), 33, 4, 8)))
	f.Add([]byte(wire.MakeRGetTyped(make([]byte, fabric.MaxHeader), good, 8, 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		sound := func(p wire.TypedPiece, bytes uint64) {
			if int64(p.At) < 0 || int64(p.Count) < 0 || int64(p.Offset) < 0 || int64(p.Offset+bytes) < 0 {
				t.Errorf("a piece of %d bytes of %+v is valid", bytes, p)
			}
		}
		if h := wire.RTypeHeader(b); h.Valid() {
			check(t, "RType", true, b, wire.RTypeSize)
			if h.Offset() >= h.Total() || h.Total() > wire.MaxType {
				t.Errorf("RType from %d of %d is valid", h.Offset(), h.Total())
			}
			h.ID()
		}
		if h := wire.RAccTypedHeader(b); h.Valid() {
			check(t, "RAccTyped", true, b, wire.RAccTypedSize)
			sound(h.Piece(), 0)
		}
		if h := wire.RGetTypedHeader(b); h.Valid() {
			check(t, "RGetTyped", true, b, wire.RGetTypedSize)
			sound(h.Piece(), h.Bytes())
			h.Request()
		}
		if h := wire.RAccessTypedHeader(b); h.Valid() {
			check(t, "RAccessTyped", true, b, wire.RAccessTypedSize)
			sound(h.Piece(), h.Bytes())
			h.Access()
		}
	})
}
