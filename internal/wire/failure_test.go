package wire_test

import (
	"encoding/hex"
	"testing"

	"github.com/weft-mpi/weft/internal/wire"
)

func TestAgreementsHaveTheirGoldenBytes(t *testing.T) {
	b := make([]byte, wire.AgreeSize)
	for i := range b {
		b[i] = 0xee
	}
	h := wire.MakeAgree(b, 0x01020304, 3, 5, 0x1112131415161718)
	if got, want := hex.EncodeToString(h), "04030201"+"03050000"+"1817161514131211"; got != want {
		t.Errorf("an Agree is %s, want %s", got, want)
	}
	if wire.Revoke != 0xd4 || wire.Agree != 0xd5 {
		t.Errorf("Revoke is %#x and Agree %#x", wire.Revoke, wire.Agree)
	}
	var sets wire.AgreeSets
	for _, w := range []uint64{3, 1 << 40, 1, 1 << 40} {
		sets = sets.AppendWord(w)
	}
	if !h.Valid(sets) || sets.Words() != 2 || sets.Failed(0) != 3 || sets.Failed(1) != 1<<40 || sets.Acked(0) != 1 || sets.Acked(1) != 1<<40 {
		t.Errorf("sets %x", sets)
	}
}

// What a peer may send and what it may not.
func TestAgreementsThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		says, round uint8
		edit        int // this byte of the header is set
		cut         int
		body        []byte
		want        bool
	}{
		"well":                      {says: 5, round: 31, want: true},
		"an unknown saying":         {says: 6},
		"a round that nobody takes": {round: 32},
		"rest of the header":        {edit: 6},
		"short":                     {cut: 1},
		"half a word":               {body: make([]byte, 8)},
		"a pair of words":           {body: make([]byte, 16), want: true},
		"acknowledged, not failed":  {body: append(make([]byte, 15), 1)},
	} {
		h := wire.MakeAgree(make([]byte, wire.AgreeSize), 1, c.says, c.round, 0)
		if c.edit > 0 {
			h[c.edit] = 1
		}
		if h = h[:len(h)-c.cut]; h.Valid(c.body) != c.want {
			t.Errorf("%s: Valid is %t", name, !c.want)
		}
	}
}

// What passes can be read, and comes back as it was.
func FuzzOnlyValidAgreementsAreRead(f *testing.F) {
	f.Add(make([]byte, wire.AgreeSize), make([]byte, 32))
	f.Add([]byte(wire.MakeAgree(make([]byte, wire.AgreeSize), 7, 3, 2, 1)), []byte{})
	f.Fuzz(func(t *testing.T, b, body []byte) {
		h, sets := wire.AgreeHeader(b), wire.AgreeSets(body)
		if !h.Valid(body) {
			return
		}
		if again := wire.MakeAgree(make([]byte, wire.AgreeSize), h.Number(), h.Says(), h.Round(), h.Flags()); string(again) != string(b) {
			t.Errorf("%x comes back as %x", b, again)
		}
		var again wire.AgreeSets
		for i := range sets.Words() {
			again = again.AppendWord(sets.Failed(i))
		}
		for i := range sets.Words() {
			again = again.AppendWord(sets.Acked(i))
		}
		if string(again) != string(body) {
			t.Errorf("%x comes back as %x", body, again)
		}
	})
}
