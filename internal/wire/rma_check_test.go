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

func TestHeadersOfCheckedWindowsHaveTheirGoldenBytes(t *testing.T) {
	access := wire.Access{At: 0x0102030405060708, Bytes: 0x1112131415161718, Phase: 0x2122232425262728, Call: 0x31, Code: 0x41, Kind: 0x51, Ends: 0x61}
	conflict := wire.Conflict{At: 0x0102030405060708, Bytes: 0x1112131415161718, Split: 0x2122,
		Parties: [2]wire.Party{{Rank: 0x31323334, Call: 0x41, Code: 0x42, Kind: 0x43}, {Rank: 0x51525354, Call: 0x61, Code: 0x62, Kind: 0x63}}}
	for _, c := range []struct {
		name string
		fill func(b []byte) []byte
		want string
	}{
		{"RAccess", func(b []byte) []byte { return wire.MakeRAccess(b, access) }, "08070605 04030201 18171615 14131211 28272625 24232221 31415161 00000000"},
		{"RConflict", func(b []byte) []byte { return wire.MakeRConflict(b, conflict) },
			"08070605 04030201 18171615 14131211 34333231 41424300 54535251 61626300 22210000 00000000"},
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
	if wire.RAccess != 0xae || wire.RConflict != 0xaf {
		t.Errorf("the kinds are %#x and %#x", wire.RAccess, wire.RConflict)
	}
}

// An engine computes with the bytes that an access is about, so they have an end.
func TestAnAccessWithoutAnEndIsNotValid(t *testing.T) {
	for _, c := range []struct {
		name      string
		at, bytes uint64
		valid     bool
	}{
		{"of no bytes", 0, 0, true},
		{"at the last address", math.MaxUint64, 0, true},
		{"up to it", math.MaxUint64 - 8, 8, true},
		{"beyond it", math.MaxUint64 - 8, 9, false},
		{"longer than any message", 0, wire.MaxLength + 1, false},
	} {
		if got := wire.MakeRAccess(make([]byte, fabric.MaxHeader), wire.Access{At: c.at, Bytes: c.bytes}).Valid(); got != c.valid {
			t.Errorf("RAccess %s: valid %t, want %t", c.name, got, c.valid)
		}
		if got := wire.MakeRConflict(make([]byte, fabric.MaxHeader), wire.Conflict{At: c.at, Bytes: c.bytes}).Valid(); got != c.valid {
			t.Errorf("RConflict %s: valid %t, want %t", c.name, got, c.valid)
		}
	}
}

func FuzzHeadersOfCheckedWindowsComeBackAsMade(f *testing.F) {
	f.Add(uint64(0), uint64(0), uint64(0), uint64(0))
	f.Add(uint64(1), uint64(math.MaxUint64), uint64(1)<<63, uint64(0x0102030405060708))
	f.Fuzz(func(t *testing.T, a, b, c, d uint64) {
		var m [fabric.MaxHeader]byte
		x := wire.Access{At: a, Bytes: b, Phase: c, Call: uint8(d), Code: uint8(d >> 8), Kind: uint8(d >> 16), Ends: uint8(d >> 24)}
		if h := wire.MakeRAccess(m[:], x); h.Access() != x {
			t.Errorf("RAccess %x of %+v", []byte(h), x)
		}
		k := wire.Conflict{At: a, Bytes: b, Split: uint16(c), Parties: [2]wire.Party{{Rank: uint32(c >> 16), Call: uint8(d), Code: uint8(d >> 8), Kind: uint8(d >> 16)},
			{Rank: uint32(d), Call: uint8(d >> 24), Code: uint8(c >> 48), Kind: uint8(c >> 56)}}}
		if h := wire.MakeRConflict(m[:], k); h.Conflict() != k {
			t.Errorf("RConflict %x of %+v", []byte(h), k)
		}
	})
}

func FuzzOnlyValidHeadersOfCheckedWindowsAreRead(f *testing.F) {
	for n := range fabric.MaxHeader + 2 {
		f.Add(make([]byte, n))
	}
	f.Add([]byte(wire.MakeRAccess(make([]byte, fabric.MaxHeader), wire.Access{At: 8, Bytes: 8, Call: 1})))
	f.Add([]byte(wire.MakeRConflict(make([]byte, fabric.MaxHeader), wire.Conflict{At: 8, Bytes: 8, Split: 4})))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h := wire.RAccessHeader(b); h.Valid() {
			check(t, "RAccess", true, b, wire.RAccessSize)
			if a := h.Access(); a.At+a.Bytes < a.At || a.Bytes > wire.MaxLength {
				t.Errorf("RAccess of %+v is valid", a)
			}
		}
		if h := wire.RConflictHeader(b); h.Valid() {
			check(t, "RConflict", true, b, wire.RConflictSize)
			if c := h.Conflict(); c.At+c.Bytes < c.At || c.Bytes > wire.MaxLength {
				t.Errorf("RConflict of %+v is valid", c)
			}
		}
	})
}
