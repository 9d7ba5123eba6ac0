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

func TestHeadersOfPartitionedCommunicationHaveTheirGoldenBytes(t *testing.T) {
	for _, c := range []struct {
		name string
		fill func(b []byte) []byte
		want string
	}{
		{"PInit", func(b []byte) []byte {
			return wire.MakePInit(b, wire.PartSend{Channel: 0x0102030405060708, Bytes: 0x1112131415161718, Parts: 0x21222324, Per: 0x31323334,
				Addr: 0x4142434445464748, Key: 0x5152535455565758, Readable: true})
		}, "08070605 04030201 18171615 14131211 24232221 34333231 48474645 44434241 58575655 54535251 01000000 00000000"},
		{"PInit of memory that can't be read", func(b []byte) []byte {
			return wire.MakePInit(b, wire.PartSend{Channel: 1, Bytes: 6, Parts: 3, Per: 2})
		}, "01000000 00000000 06000000 00000000 03000000 02000000 00000000 00000000 00000000 00000000 00000000 00000000"},
		{"PAccept", func(b []byte) []byte {
			return wire.MakePAccept(b, wire.PartRecv{Channel: 0x0102030405060708, Bytes: 0x1112131415161718, Parts: 0x21222324, Verdict: wire.Writable,
				Addr: 0x4142434445464748, Key: 0x5152535455565758})
		}, "08070605 04030201 18171615 14131211 24232221 01000000 48474645 44434241 58575655 54535251"},
		{"PAccept that differs", func(b []byte) []byte {
			return wire.MakePAccept(b, wire.PartRecv{Verdict: wire.Differs})
		}, "00000000 00000000 00000000 00000000 00000000 02000000 00000000 00000000 00000000 00000000"},
		{"PAccept forgone", func(b []byte) []byte {
			return wire.MakePAccept(b, wire.PartRecv{Verdict: wire.Forgone})
		}, "00000000 00000000 00000000 00000000 00000000 03000000 00000000 00000000 00000000 00000000"},
		{"PAccept forgone, and why", func(b []byte) []byte {
			return wire.MakePAccept(b, wire.PartRecv{Verdict: wire.Forgone, Why: wire.PartRevoked})
		}, "00000000 00000000 00000000 00000000 00000000 03000300 00000000 00000000 00000000 00000000"},
		{"PEnd", func(b []byte) []byte { return wire.MakePEnd(b, false, wire.PartContext) }, "00010000 00000000"},
		{"PEnd of the sender's own", func(b []byte) []byte { return wire.MakePEnd(b, true, wire.PartFailed) }, "01040000 00000000"},
		{"PBlocks", func(b []byte) []byte { return wire.MakePBlocks(b, 0x01020304, 0x11121314, 0x21222324, wire.Taken) }, "04030201 14131211 24232221 00000000"},
		{"PBlocks refused", func(b []byte) []byte { return wire.MakePBlocks(b, 1, 2, 3, wire.Refused) }, "01000000 02000000 03000000 01000000"},
		{"PBlocks failed", func(b []byte) []byte { return wire.MakePBlocks(b, 1, 2, 3, wire.Failed) }, "01000000 02000000 03000000 02000000"},
		{"PData", func(b []byte) []byte { return wire.MakePData(b, 0x0102030405060708, 0x11121314) }, "08070605 04030201 14131211 00000000"},
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

func TestKindsOfPartitionedCommunicationHaveTheirGoldenValues(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uint8
	}{
		{"PInit", wire.PInit, 0xc0}, {"PAccept", wire.PAccept, 0xc1}, {"PGo", wire.PGo, 0xc2}, {"PReady", wire.PReady, 0xc3},
		{"PData", wire.PData, 0x44}, {"PLanded", wire.PLanded, 0x45}, {"PDone", wire.PDone, 0x46}, {"PFree", wire.PFree, 0xc7},
		{"PStop", wire.PStop, 0xc8}, {"PStill", wire.PStill, 0xc9},
		{"verdict Fits", uint8(wire.Fits), 0}, {"verdict Writable", uint8(wire.Writable), 1}, {"verdict Differs", uint8(wire.Differs), 2},
		{"verdict Forgone", uint8(wire.Forgone), 3}, {"verdict Scattered", uint8(wire.Scattered), 4},
		{"end PartFreed", uint8(wire.PartFreed), 0}, {"end PartContext", uint8(wire.PartContext), 1}, {"end PartUnmatched", uint8(wire.PartUnmatched), 2},
		{"end PartRevoked", uint8(wire.PartRevoked), 3}, {"end PartFailed", uint8(wire.PartFailed), 4},
		{"fate Taken", uint8(wire.Taken), 0}, {"fate Refused", uint8(wire.Refused), 1}, {"fate Failed", uint8(wire.Failed), 2},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
	for name, n := range map[string]int{"PInit": wire.PInitSize, "PAccept": wire.PAcceptSize, "PBlocks": wire.PBlocksSize, "PEnd": wire.PEndSize, "PData": wire.PDataSize} {
		if n > fabric.MaxHeader {
			t.Errorf("%s takes %d bytes of %d", name, n, fabric.MaxHeader)
		}
	}
}

// What an engine could not use is not valid: it computes with it unchecked.
func TestADescriptionOfASendThatCanNotBeIsNotValid(t *testing.T) {
	good := wire.PartSend{Channel: 1, Bytes: 12, Parts: 4, Per: 2}
	for _, c := range []struct {
		name   string
		change func(*wire.PartSend)
		valid  bool
	}{
		{"good", func(*wire.PartSend) {}, true},
		{"no partitions", func(s *wire.PartSend) { s.Parts = 0 }, false},
		{"too many partitions", func(s *wire.PartSend) { s.Parts, s.Bytes = wire.MaxParts+1, 0 }, false},
		{"the most partitions", func(s *wire.PartSend) { s.Parts, s.Bytes, s.Per = wire.MaxParts, wire.MaxParts, 1 }, true},
		{"blocks of nothing", func(s *wire.PartSend) { s.Per = 0 }, false},
		{"blocks larger than the message", func(s *wire.PartSend) { s.Per = 5 }, false},
		{"blocks as large as the message", func(s *wire.PartSend) { s.Per = 4 }, true},
		{"partitions of several sizes", func(s *wire.PartSend) { s.Bytes = 13 }, false},
		{"too long", func(s *wire.PartSend) { s.Bytes = (wire.MaxLength/4 + 1) * 4 }, false},
		{"no bytes", func(s *wire.PartSend) { s.Bytes, s.Per = 0, 4 }, true},
		{"no bytes in many blocks", func(s *wire.PartSend) { s.Bytes, s.Parts, s.Per = 0, wire.MaxParts, 1 }, false},
	} {
		s := good
		c.change(&s)
		if got := wire.MakePInit(make([]byte, fabric.MaxHeader), s).Valid(); got != c.valid {
			t.Errorf("%s: valid %t, want %t", c.name, got, c.valid)
		}
	}
}

func FuzzHeadersOfPartitionedCommunicationComeBackAsMade(f *testing.F) {
	f.Add(uint64(0), uint64(0), uint64(0), uint64(0), false)
	f.Add(uint64(1), uint64(math.MaxUint64), uint64(1)<<63, uint64(0x0102030405060708), true)
	f.Fuzz(func(t *testing.T, a, b, c, d uint64, is bool) {
		var m [fabric.MaxHeader]byte
		send := wire.PartSend{Channel: a, Bytes: b, Parts: uint32(c), Per: uint32(c >> 32), Addr: d, Key: a ^ d, Readable: is}
		if h := wire.MakePInit(m[:], send); h.Send() != send {
			t.Errorf("PInit %x of %+v", []byte(h), send)
		}
		recv := wire.PartRecv{Channel: a, Bytes: b, Parts: uint32(c), Verdict: wire.Verdict(d % 4), Why: wire.PartEnd(a % 5), Addr: d, Key: a ^ d}
		if h := wire.MakePAccept(m[:], recv); !h.Valid() || h.Recv() != recv {
			t.Errorf("PAccept %x of %+v", []byte(h), recv)
		}
		if h := wire.MakePEnd(m[:], is, wire.PartEnd(a%5)); !h.Valid() || h.Own() != is || h.Why() != wire.PartEnd(a%5) {
			t.Errorf("PEnd %x of %t %d", []byte(h), is, a%5)
		}
		h := wire.MakePBlocks(m[:], uint32(a), uint32(b), uint32(c), wire.Fate(d%3))
		if first, count := h.Blocks(); !h.Valid() || h.Round() != uint32(a) || first != uint32(b) || count != uint32(c) || h.Fate() != wire.Fate(d%3) {
			t.Errorf("PBlocks %x of %d %d %d", []byte(h), a, b, c)
		}
		if h := wire.MakePData(m[:], a, uint32(b)); !h.Valid() || h.Offset() != a || h.Round() != uint32(b) {
			t.Errorf("PData %x of %d %d", []byte(h), a, b)
		}
	})
}

func FuzzOnlyValidHeadersOfPartitionedCommunicationAreRead(f *testing.F) {
	for n := range fabric.MaxHeader + 2 {
		f.Add(make([]byte, n))
	}
	f.Add([]byte(wire.MakePInit(make([]byte, fabric.MaxHeader), wire.PartSend{Bytes: 12, Parts: 4, Per: 2})))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h := wire.PInitHeader(b); h.Valid() {
			check(t, "PInit", true, b, wire.PInitSize)
			s := h.Send()
			if s.Parts == 0 || s.Per == 0 || s.Per > s.Parts || s.Bytes > wire.MaxLength || s.Bytes%uint64(s.Parts) != 0 {
				t.Errorf("PInit of %+v is valid", s)
			}
			if blocks := (uint64(s.Parts) + uint64(s.Per) - 1) / uint64(s.Per); blocks > max(s.Bytes, 1) {
				t.Errorf("PInit of %d blocks for %d bytes is valid", blocks, s.Bytes)
			}
		}
		if h := wire.PAcceptHeader(b); h.Valid() {
			if check(t, "PAccept", true, b, wire.PAcceptSize); h.Recv().Verdict > wire.Scattered || h.Recv().Why > wire.PartFailed {
				t.Errorf("PAccept of %+v is valid", h.Recv())
			}
		}
		if h := wire.PEndHeader(b); h.Valid() {
			if check(t, "PEnd", true, b, wire.PEndSize); h.Why() > wire.PartFailed {
				t.Errorf("PEnd with reason %d is valid", h.Why())
			}
			h.Own()
		}
		if h := wire.PBlocksHeader(b); h.Valid() {
			if check(t, "PBlocks", true, b, wire.PBlocksSize); h.Fate() > wire.Failed {
				t.Errorf("PBlocks with fate %d is valid", h.Fate())
			}
			h.Round()
			h.Blocks()
		}
		if h := wire.PDataHeader(b); check(t, "PData", h.Valid(), b, wire.PDataSize) {
			h.Offset()
			h.Round()
		}
	})
}
