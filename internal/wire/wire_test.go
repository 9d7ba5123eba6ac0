package wire_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

// Peers of another build read these bytes: who changes one of them changes
// wire.Version.
func TestHeadersHaveTheirGoldenBytes(t *testing.T) {
	if wire.Version != 16 {
		t.Fatalf("version %d: write down the bytes of the new one", wire.Version)
	}
	for _, c := range []struct {
		name string
		fill func(b []byte) []byte
		want string
	}{
		{"First", func(b []byte) []byte { return wire.MakeFirst(b, 0x0102030405060708, false) }, "08070605 04030201 00000000 00000000"},
		{"First of a ready send", func(b []byte) []byte { return wire.MakeFirst(b, 5, true) }, "05000000 00000000 01000000 00000000"},
		{"a number", func(b []byte) []byte { return wire.MakeNumber(b, 0x0102030405060708) }, "08070605 04030201"},
		{"RTS", func(b []byte) []byte {
			return wire.MakeRTS(b, 0x1112131415161718, 0x2122232425262728, 0x3132333435363738, 0x4142434445464748, wire.Ready|wire.Unreadable)
		}, "18171615 14131211 28272625 24232221 38373635 34333231 48474645 44434241 03000000 00000000"},
		{"CTS", func(b []byte) []byte { return wire.MakeCTS(b, 0x5152535455565758, 0x6162636465666768, true) }, "58575655 54535251 68676665 64636261 01000000 00000000"},
		{"Grant", func(b []byte) []byte {
			return wire.MakeGrant(b, 0x1112131415161718, 0x2122232425262728, 0x3132333435363738, 0x4142434445464748, true)
		}, "18171615 14131211 28272625 24232221 38373635 34333231 48474645 44434241 01000000 00000000"},
		{"FIN", func(b []byte) []byte { return wire.MakeFIN(b, wire.Received) }, "00000000 00000000"},
		{"FIN of a failure", func(b []byte) []byte { return wire.MakeFIN(b, wire.Lost) }, "01000000 00000000"},
		{"FIN of a late receive", func(b []byte) []byte { return wire.MakeFIN(b, wire.Late) }, "02000000 00000000"},
		{"FIN of a dropped message", func(b []byte) []byte { return wire.MakeFIN(b, wire.Freed) }, "03000000 00000000"},
		{"yes", func(b []byte) []byte { return wire.MakeFlag(b, true) }, "01000000 00000000"},
		{"no", func(b []byte) []byte { return wire.MakeFlag(b, false) }, "00000000 00000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The memory a header is made in may hold anything before.
			b := make([]byte, fabric.MaxHeader)
			for i := range b {
				b[i] = 0xee
			}
			want := strings.ReplaceAll(c.want, " ", "")
			h := c.fill(b)
			if got := hex.EncodeToString(h); got != want {
				t.Errorf("bytes %s, want %s", got, want)
			}
			for i := len(h); i < len(b); i++ {
				if b[i] != 0xee {
					t.Fatalf("byte %d, behind the header, was written", i)
				}
			}
		})
	}
}

func TestKindsHaveTheirGoldenValues(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uint8
	}{
		{"Eager", wire.Eager, 0x01}, {"EagerFirst", wire.EagerFirst, 0x02}, {"EagerMore", wire.EagerMore, 0x03},
		{"EagerSync", wire.EagerSync, 0x84}, {"EagerReady", wire.EagerReady, 0x05},
		{"RTS", wire.RTS, 0x86}, {"CTS", wire.CTS, 0x87}, {"Data", wire.Data, 0x08}, {"FIN", wire.FIN, 0x09},
		{"Cancel", wire.Cancel, 0x8a}, {"Cancelled", wire.Cancelled, 0x8b}, {"Flow", wire.Flow, 0x8c},
		{"Grant", wire.Grant, 0x8f}, {"Written", wire.Written, 0x10}, {"Dead", wire.Dead, 0x91},
		{"level Open", uint8(wire.Open), 0}, {"level Announce", uint8(wire.Announce), 1}, {"level Hold", uint8(wire.Hold), 2},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
	if wire.Urgent != fabric.Urgent {
		t.Errorf("Urgent = %#x, fabric's is %#x", wire.Urgent, fabric.Urgent)
	}
}

func TestEveryHeaderFitsAFabric(t *testing.T) {
	for name, n := range map[string]int{
		"First": wire.FirstSize, "Number": wire.NumberSize, "Flag": wire.FlagSize, "RTS": wire.RTSSize, "CTS": wire.CTSSize, "Grant": wire.GrantSize, "FIN": wire.FINSize,
	} {
		if n > fabric.MaxHeader {
			t.Errorf("%s takes %d bytes of %d", name, n, fabric.MaxHeader)
		}
	}
}

func TestImmKeepsContextAndTagApart(t *testing.T) {
	for _, c := range []struct {
		cid  uint32
		tag  int32
		want uint64
	}{
		{0, 0, 0},
		{1, 2, 0x00000001_00000002},
		{math.MaxUint32, 0, 0xffffffff_00000000},
		{0, math.MaxInt32, 0x00000000_7fffffff},
		{0, -1, 0x00000000_ffffffff}, // a sign must not reach the context
		{7, math.MinInt32, 0x00000007_80000000},
	} {
		imm := wire.Imm(c.cid, c.tag)
		if imm != c.want {
			t.Errorf("Imm(%d, %d) = %#x, want %#x", c.cid, c.tag, imm, c.want)
		}
		if cid, tag := wire.Match(imm); cid != c.cid || tag != c.tag {
			t.Errorf("Match(Imm(%d, %d)) = %d, %d", c.cid, c.tag, cid, tag)
		}
	}
}

func FuzzHeadersComeBackAsMade(f *testing.F) {
	f.Add(uint64(0), uint64(0), uint64(0), uint64(0), false)
	f.Add(uint64(1), uint64(math.MaxUint64), uint64(1)<<63, uint64(0x0102030405060708), true)
	f.Fuzz(func(t *testing.T, a, b, c, d uint64, failed bool) {
		var m [fabric.MaxHeader]byte
		if h := wire.MakeFirst(m[:], a, failed); !h.Valid() || h.Length() != a || h.Ready() != failed {
			t.Errorf("First: valid %t, length %d of %d", h.Valid(), h.Length(), a)
		}
		if h := wire.MakeRTS(m[:], a, b, c, d, wire.Announced(a%4)); h.Valid() != (b <= wire.MaxLength) || h.Addr() != a || h.Length() != b || h.Key() != c || h.Request() != d || h.What() != wire.Announced(a%4) {
			t.Errorf("RTS %x of %d %d %d %d", []byte(h), a, b, c, d)
		}
		if h := wire.MakeCTS(m[:], a, b, failed); !h.Valid() || h.Request() != a || h.Limit() != b || h.Late() != failed {
			t.Errorf("CTS %x of %d %d", []byte(h), a, b)
		}
		if h := wire.MakeGrant(m[:], a, b, c, d, failed); !h.Valid() || h.Addr() != a || h.Limit() != b || h.Key() != c || h.Request() != d || h.Late() != failed {
			t.Errorf("Grant %x of %d %d %d %d", []byte(h), a, b, c, d)
		}
		if h := wire.MakeNumber(m[:], a); !h.Valid() || h.Number() != a {
			t.Errorf("Number %x of %d", []byte(h), a)
		}
		if o := wire.Outcome(a % uint64(wire.Outcomes)); wire.MakeFIN(m[:], o).Outcome() != o || !wire.FINHeader(m[:wire.FINSize]).Valid() {
			t.Errorf("FIN %x of %d", m[:wire.FINSize], o)
		}
		if h := wire.MakeFlag(m[:], failed); !h.Valid() || h.Yes() != failed {
			t.Errorf("Flag %x of %t", []byte(h), failed)
		}
		if cid, tag := wire.Match(wire.Imm(uint32(a), int32(b))); cid != uint32(a) || tag != int32(b) {
			t.Errorf("Match(Imm(%d, %d)) = %d, %d", uint32(a), int32(b), cid, tag)
		}
	})
}

// The engine asks Valid first. Only the exact length passes, and what passes
// can be read.
func FuzzOnlyValidHeadersAreRead(f *testing.F) {
	for n := range fabric.MaxHeader + 2 {
		f.Add(make([]byte, n))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if h := wire.First(b); check(t, "First", h.Valid(), b, wire.FirstSize) {
			h.Length()
			h.Ready()
		}
		if h := wire.NumberHeader(b); check(t, "Number", h.Valid(), b, wire.NumberSize) {
			h.Number()
		}
		if h := wire.FlagHeader(b); check(t, "Flag", h.Valid(), b, wire.FlagSize) {
			h.Yes()
		}
		if h := wire.RTSHeader(b); h.Valid() {
			check(t, "RTS", true, b, wire.RTSSize)
			h.Addr()
			h.Key()
			h.Request()
			if h.Length() > wire.MaxLength {
				t.Errorf("RTS of %d bytes is valid", h.Length())
			}
		}
		if h := wire.CTSHeader(b); check(t, "CTS", h.Valid(), b, wire.CTSSize) {
			h.Request()
			h.Limit()
		}
		// A FIN says one of a few things.
		h := wire.FINHeader(b)
		if want := len(b) == wire.FINSize && b[0] < byte(wire.Outcomes); h.Valid() != want {
			t.Errorf("FIN %x: Valid is %t", b, h.Valid())
		}
	})
}

func check(t *testing.T, name string, valid bool, b []byte, size int) bool {
	t.Helper()
	if valid != (len(b) == size) {
		t.Errorf("%s of %d bytes: Valid is %t, its size is %d", name, len(b), valid, size)
	}
	return valid
}
