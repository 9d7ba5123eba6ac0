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

func TestHeadersOfWindowsHaveTheirGoldenBytes(t *testing.T) {
	piece := wire.Piece{At: 0x0102030405060708, Offset: 0x1112131415161718, Total: 0x2122232425262728, Code: 0x31, Kind: 0x41}
	for _, c := range []struct {
		name string
		fill func(b []byte) []byte
		want string
	}{
		{"RAcc", func(b []byte) []byte { return wire.MakeRAcc(b, piece) },
			"08070605 04030201 18171615 14131211 28272625 24232221 31410000 00000000"},
		{"RGet", func(b []byte) []byte { return wire.MakeRGet(b, piece, 0x5152535455565758, 0x6162636465666768) },
			"08070605 04030201 18171615 14131211 28272625 24232221 31410000 00000000 58575655 54535251 68676665 64636261"},
		{"RRefused", func(b []byte) []byte { return wire.MakeRRefused(b, 0x0102030405060708, 0x1112131415161718) },
			"08070605 04030201 18171615 14131211"},
		{"RLock of a part", func(b []byte) []byte { return wire.MakeRLock(b, false, 0x11, false, 0x01020304) }, "00110000 04030201"},
		{"RLock of all parts", func(b []byte) []byte { return wire.MakeRLock(b, true, 0x11, true, 0x01020304) }, "01110100 04030201"},
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
}

func TestKindsOfWindowsHaveTheirGoldenValues(t *testing.T) {
	for i, c := range []struct {
		name string
		got  uint8
	}{
		{"RAcc", wire.RAcc}, {"RGet", wire.RGet}, {"RCas", wire.RCas}, {"RData", wire.RData}, {"RFlush", wire.RFlush},
		{"RFlushed", wire.RFlushed}, {"RRefused", wire.RRefused}, {"RPost", wire.RPost}, {"RComplete", wire.RComplete},
		{"RLock", wire.RLock}, {"RPress", wire.RPress}, {"RUnlock", wire.RUnlock}, {"RGranted", wire.RGranted}, {"RDeclined", wire.RDeclined},
	} {
		if want := 0xa0 + uint8(i); c.got != want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, want)
		}
	}
	for name, n := range map[string]int{"RAcc": wire.RAccSize, "RGet": wire.RGetSize,
		"RRefused": wire.RRefusedSize, "RLock": wire.RLockSize} {
		if n > fabric.MaxHeader {
			t.Errorf("%s takes %d bytes of %d", name, n, fabric.MaxHeader)
		}
	}
}

// What an engine could not use is not valid: it computes with it unchecked.
func TestAPieceThatCanNotBeIsNotValid(t *testing.T) {
	good := wire.Piece{At: 100, Offset: 8, Total: 16}
	for _, c := range []struct {
		name   string
		change func(p *wire.Piece, bytes *uint64)
		valid  bool
	}{
		{"good", func(*wire.Piece, *uint64) {}, true},
		{"of an operation of no bytes", func(p *wire.Piece, _ *uint64) { p.Offset, p.Total = 0, 0 }, false},
		{"behind its operation", func(p *wire.Piece, _ *uint64) { p.Offset = 16 }, false},
		{"longer than its operation", func(_ *wire.Piece, n *uint64) { *n = 9 }, false},
		{"so long that it wraps around", func(_ *wire.Piece, n *uint64) { *n = math.MaxUint64 }, false},
		{"of an operation that begins before the part", func(p *wire.Piece, _ *uint64) { p.At = 7 }, false},
		{"of an operation at the part's begin", func(p *wire.Piece, _ *uint64) { p.At = 8 }, true},
		{"of an operation that is too long", func(p *wire.Piece, _ *uint64) { p.Total = wire.MaxLength + 1 }, false},
	} {
		p, n := good, uint64(8)
		c.change(&p, &n)
		if got := wire.MakeRGet(make([]byte, fabric.MaxHeader), p, n, 1).Valid(); got != c.valid {
			t.Errorf("%s: valid %t, want %t", c.name, got, c.valid)
		}
	}
}

func FuzzHeadersOfWindowsComeBackAsMade(f *testing.F) {
	f.Add(uint64(0), uint64(0), uint64(0), uint64(0), false)
	f.Add(uint64(1), uint64(math.MaxUint64), uint64(1)<<63, uint64(0x0102030405060708), true)
	f.Fuzz(func(t *testing.T, a, b, c, d uint64, is bool) {
		var m [fabric.MaxHeader]byte
		p := wire.Piece{At: a, Offset: b, Total: c, Code: uint8(d), Kind: uint8(d >> 8)}
		if h := wire.MakeRAcc(m[:], p); h.Piece() != p {
			t.Errorf("RAcc %x of %+v", []byte(h), p)
		}
		if h := wire.MakeRGet(m[:], p, d, a^d); h.Piece() != p || h.Bytes() != d || h.Request() != a^d {
			t.Errorf("RGet %x of %+v", []byte(h), p)
		}
		if h := wire.MakeRRefused(m[:], a, b); !h.Valid() || h.At() != a || h.Bytes() != b {
			t.Errorf("RRefused %x of %d %d", []byte(h), a, b)
		}
		h := wire.MakeRLock(m[:], is, uint8(a), !is, uint32(b))
		if !h.Valid() || h.Global() != is || h.Claim() != uint8(a) || h.Holding() == is || h.Rank() != uint32(b) {
			t.Errorf("RLock %x of %t %d %d", []byte(h), is, a, b)
		}
	})
}

func FuzzOnlyValidHeadersOfWindowsAreRead(f *testing.F) {
	for n := range fabric.MaxHeader + 2 {
		f.Add(make([]byte, n))
	}
	f.Add([]byte(wire.MakeRGet(make([]byte, fabric.MaxHeader), wire.Piece{At: 8, Total: 8, Code: 1, Kind: 2}, 8, 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h := wire.RAccHeader(b); h.Valid() {
			check(t, "RAcc", true, b, wire.RAccSize)
			if p := h.Piece(); p.Offset >= p.Total || p.Total > wire.MaxLength || p.At < p.Offset {
				t.Errorf("RAcc of %+v is valid", p)
			}
		}
		if h := wire.RGetHeader(b); h.Valid() {
			check(t, "RGet", true, b, wire.RGetSize)
			if p := h.Piece(); p.Offset+h.Bytes() > p.Total || p.Offset+h.Bytes() < p.Offset {
				t.Errorf("RGet of %d bytes of %+v is valid", h.Bytes(), p)
			}
			h.Request()
		}
		if h := wire.RRefusedHeader(b); check(t, "RRefused", h.Valid(), b, wire.RRefusedSize) {
			h.At()
			h.Bytes()
		}
		if h := wire.RLockHeader(b); h.Valid() {
			check(t, "RLock", true, b, wire.RLockSize)
			h.Global()
			h.Holding()
			h.Rank()
		}
	})
}
