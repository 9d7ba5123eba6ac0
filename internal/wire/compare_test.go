package wire_test

import (
	"encoding/hex"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

func TestComparisonsHaveTheirGoldenBytes(t *testing.T) {
	ask := wire.MakeCompare(make([]byte, fabric.MaxHeader), 0x01020304)
	if got, want := hex.EncodeToString(ask), "0403020100000000"; got != want {
		t.Errorf("Compare is %s, want %s", got, want)
	}
	if !ask.Valid() || ask.Number() != 0x01020304 {
		t.Errorf("%t, number %#x", ask.Valid(), ask.Number())
	}
	reply := wire.MakeCompared(make([]byte, fabric.MaxHeader), 0x01020304, 0x011f1213, 0x21222324252627)
	if got, want := hex.EncodeToString(reply), "13121f01040302012726252423222100"; got != want {
		t.Errorf("Compared is %s, want %s", got, want)
	}
	if !reply.Valid() || reply.Number() != 0x01020304 || reply.What() != 0x011f1213 || reply.Alike() != 0x21222324252627 {
		t.Errorf("%t, number %#x, %#x, %#x", reply.Valid(), reply.Number(), reply.What(), reply.Alike())
	}
	if wire.Compare != 0xd2 || wire.Compared != 0xd3 {
		t.Errorf("the kinds are %#x and %#x", wire.Compare, wire.Compared)
	}
}

func TestAComparisonThatSaysNothingIsInvalid(t *testing.T) {
	for name, bad := range map[string]wire.CompareHeader{
		"nothing":                  {},
		"a number that is too big": {0, 0, 0, 0, 1, 0, 0, 0},
		"a byte too many":          make([]byte, wire.CompareSize+1),
	} {
		if bad.Valid() {
			t.Errorf("Compare of %s is valid", name)
		}
	}
	reply := func(what uint32, alike uint64) wire.ComparedHeader {
		return wire.MakeCompared(make([]byte, wire.ComparedSize), 7, what, alike)
	}
	if !reply(0, 0).Valid() || !reply(1<<16, 0).Valid() || !reply(6<<24|1<<16, 0).Valid() {
		t.Error("a reply is invalid")
	}
	for name, bad := range map[string]wire.ComparedHeader{
		"nothing":           {},
		"a byte too many":   append(reply(1<<16, 0), 0),
		"no call":           reply(5, 0),
		"no call, alike":    reply(0, 5),
		"an unknown call":   reply(32<<16, 0),
		"unknown flags":     reply(8<<24|1<<16, 0),
		"two forms":         reply(5<<24|1<<16, 0),
		"all flags":         reply(7<<24|1<<16, 0),
		"too much alike":    reply(1<<16, 1<<56),
		"flags and no call": reply(1<<24, 0),
	} {
		if bad.Valid() {
			t.Errorf("Compared of %s is valid", name)
		}
	}
}

func FuzzOnlyValidComparisonsAreRead(f *testing.F) {
	f.Add(make([]byte, wire.CompareSize))
	f.Add([]byte(wire.MakeCompared(make([]byte, wire.ComparedSize), 1, 1<<16, 2)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h := wire.CompareHeader(b); h.Valid() {
			if again := wire.MakeCompare(make([]byte, wire.CompareSize), h.Number()); string(again) != string(b) {
				t.Errorf("%x comes back as %x", b, again)
			}
		}
		if h := wire.ComparedHeader(b); h.Valid() {
			if again := wire.MakeCompared(make([]byte, wire.ComparedSize), h.Number(), h.What(), h.Alike()); string(again) != string(b) {
				t.Errorf("%x comes back as %x", b, again)
			}
		}
	})
}
