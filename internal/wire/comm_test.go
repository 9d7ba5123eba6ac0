package wire_test

import (
	"encoding/hex"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

func TestAnAbortHasItsGoldenBytes(t *testing.T) {
	h := wire.MakeAbort(make([]byte, fabric.MaxHeader), 0x01020304, 0x11121314, 0x21222324)
	if got, want := hex.EncodeToString(h), "040302011413121124232221"; got != want {
		t.Errorf("bytes %s, want %s", got, want)
	}
	if !h.Valid() || h.Code() != 0x01020304 || h.Call() != 0x11121314 || h.Rank() != 0x21222324 {
		t.Errorf("%t, code %#x, call %#x, rank %#x", h.Valid(), h.Code(), h.Call(), h.Rank())
	}
	if got, want := wire.Abort, uint8(0xd0); got != want {
		t.Errorf("the kind is %#x, want %#x", got, want)
	}
	for _, bad := range [][]byte{nil, h[:11], append(h[:12:12], 0), {0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0}} {
		if wire.AbortHeader(bad).Valid() {
			t.Errorf("%x is valid", bad)
		}
	}
}

func TestALetterHasItsGoldenBytes(t *testing.T) {
	reason := wire.MakeLetterReason(0x01020304, 0x11121314, "no")
	if got, want := hex.EncodeToString(reason), "04030201141312116e6f"; got != want {
		t.Errorf("bytes %s, want %s", got, want)
	}
	if reason.Code() != 0x01020304 || reason.Context() != 0x11121314 || reason.Text() != "no" {
		t.Errorf("code %#x, context %#x, text %q", reason.Code(), reason.Context(), reason.Text())
	}
	if long := wire.MakeLetterReason(1, 2, string(make([]byte, 2*wire.MaxAbortText))); len(long) != wire.MaxAbortText {
		t.Errorf("a long reason has %d bytes", len(long))
	}
	if wire.Letter != 0xd1 || wire.LetterLast != 1 || wire.LetterOff != 2 || wire.LetterVoid != 4 {
		t.Errorf("the kind is %#x, its flags %d, %d and %d", wire.Letter, wire.LetterLast, wire.LetterOff, wire.LetterVoid)
	}
	key := wire.LetterHeader(make([]byte, wire.LetterSize))
	for _, c := range []struct {
		name  string
		key   wire.LetterHeader
		flags uint64
		body  []byte
		valid bool
	}{
		{"a letter", key, wire.LetterLast, []byte{1}, true},
		{"a letter of no bytes", key, wire.LetterLast, nil, true},
		{"a piece", key, 0, []byte{1}, true},
		{"a piece of no bytes", key, 0, nil, false},
		{"a reason", key, wire.LetterOff, reason, true},
		{"a reason without a text", key, wire.LetterOff, reason[:8], true},
		{"a reason cut short", key, wire.LetterOff, reason[:7], false},
		{"a reason that is too long", key, wire.LetterOff, make([]byte, 1+wire.MaxAbortText), false},
		{"a class below 0", key, wire.LetterOff, []byte{0, 0, 0, 0x80, 0, 0, 0, 0}, false},
		{"a context of the library's", key, wire.LetterOff, []byte{0, 0, 0, 0, 1, 0, 0, 0}, false},
		{"both flags", key, 3, reason, false},
		{"letters that are void", key, wire.LetterVoid, nil, true},
		{"letters that are void, and a body", key, wire.LetterVoid, []byte{1}, false},
		{"another flag", key, 8, reason, false},
		{"a short key", key[:31], wire.LetterLast, nil, false},
		{"a long key", append(key[:32:32], 0), wire.LetterLast, nil, false},
	} {
		if got := c.key.Valid(c.flags, c.body); got != c.valid {
			t.Errorf("%s: valid %t", c.name, got)
		}
	}
}

func TestAQuestionAndItsReplyHaveTheirGoldenNumbers(t *testing.T) {
	if wire.Ask != 0xd6 || wire.Tell != 0xd7 || wire.AskReply != 0 || wire.AskState != 1 || wire.AskSettled != 2 ||
		wire.TellLast != 1 || wire.Sending != 2 || wire.Receiving != 4 {
		t.Errorf("the kinds are %#x and %#x", wire.Ask, wire.Tell)
	}
	if got := wire.MakeAsk(0x010203, wire.AskSettled); got != 0x01020302 {
		t.Errorf("a question is %#x", got)
	}
	if got := wire.MakeTell(0x010203, wire.TellLast|wire.Receiving); got != 0x01020305 {
		t.Errorf("a reply is %#x", got)
	}
	for imm := range uint64(1024) {
		number, a, ok := wire.ParseAsk(imm)
		if ok != (imm%256 < 3) || wire.MakeAsk(number, a) != imm {
			t.Errorf("%#x is the question %d, %d: %t", imm, number, a, ok)
		}
		number, said, ok := wire.ParseTell(imm)
		if ok != (imm%256 < 8) || wire.MakeTell(number, said) != imm {
			t.Errorf("%#x is the reply %d, %d: %t", imm, number, said, ok)
		}
	}
}
