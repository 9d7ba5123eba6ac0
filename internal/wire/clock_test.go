package wire_test

import (
	"encoding/hex"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

func TestClockHeaders(t *testing.T) {
	b := make([]byte, fabric.MaxHeader)
	if got, want := hex.EncodeToString(wire.MakeClock(b, 0x0102030405060708, 0x1122334455667788)), "08070605040302018877665544332211"; got != want {
		t.Errorf("Clock is %s, want %s", got, want)
	}
	if wire.Clock != 0xd9 {
		t.Errorf("the kind is %#x", wire.Clock)
	}
	for _, c := range []struct {
		name  string
		h     []byte
		says  uint64
		valid bool
	}{
		{"a question", wire.MakeClock(make([]byte, wire.ClockSize), 1, 0), wire.ClockAsk, true},
		{"a question with a time", wire.MakeClock(make([]byte, wire.ClockSize), 1, 5), wire.ClockAsk, false},
		{"a reply", wire.MakeClock(make([]byte, wire.ClockSize), 1, 5), wire.ClockTell, true},
		{"a reply before the clock began", wire.MakeClock(make([]byte, wire.ClockSize), 1, -5), wire.ClockTell, false},
		{"something else", wire.MakeClock(make([]byte, wire.ClockSize), 1, 0), wire.Clocks, false},
		{"a short one", make([]byte, wire.ClockSize-1), wire.ClockAsk, false},
		{"nothing", nil, wire.ClockAsk, false},
	} {
		if got := wire.ClockHeader(c.h).Valid(c.says); got != c.valid {
			t.Errorf("%s is valid: %t", c.name, got)
		}
	}
}
