package launch

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/weft-mpi/weft/mpi/cause"
)

func TestFramesHaveGoldenBytes(t *testing.T) {
	w := welcome{rank: 1, size: 2}
	w.id[0], w.key[31] = 0xaa, 0xbb
	for _, c := range []struct {
		name    string
		kind    frameKind
		payload []byte
		want    string
	}{
		{"hello", kindHello, hello{1, 2}.append(nil), "b0070601 08000000 01000000 02000000"},
		{"welcome", kindWelcome, w.append(nil), "b0070602 38000000 01000000 02000000 aa" + strings.Repeat("00", 15+31) + "bb"},
		{"offer", kindOffer, appendOffer(nil, 5, []byte("ab")), "b0070603 0a000000 0500000000000000 6162"},
		{"table", kindTable, appendTable(nil, 5, [][]byte{nil, []byte("b")}), "b0070604 15000000 0500000000000000 02000000 00000000 01000000 62"},
		{"fail", kindFail, appendFail(nil, &cause.LostError{Rank: 1, Reason: "x"}), "b0070605 05000000 01000000 78"},
		{"fail about nobody", kindFail, appendFail(nil, io.EOF), "b0070605 07000000 ffffffff 454f46"},
		{"bye", kindBye, nil, "b0070606 00000000"},
		{"lost", kindLost, appendLost(nil, &cause.LostError{Rank: 1, Reason: "x"}), "b0070607 05000000 01000000 78"},
		{"abort", kindAbort, appendAbort(nil, 200, "xy"), "b0070608 03000000 c8 7879"},
		{"abort without a word", kindAbort, appendAbort(nil, 0, ""), "b0070608 01000000 00"},
		{"rest", kindRest, appendRest(nil, true), "b0070609 01000000 01"},
		{"no rest", kindRest, appendRest(nil, false), "b0070609 01000000 00"},
	} {
		b := appendFrame(nil, c.kind, c.payload)
		if got := hex.EncodeToString(b); got != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		kind, p, err := readFrame(iotest.OneByteReader(bytes.NewReader(b)), 2)
		if kind != c.kind || !bytes.Equal(p, c.payload) || err != nil {
			t.Errorf("%s comes back as %d %x, %v", c.name, kind, p, err)
		}
	}
	if got, err := parseWelcome(w.append(nil)); got != w || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestGarbageIsNamed(t *testing.T) {
	for _, c := range []struct{ name, bytes, says string }{
		{"text", "GET / HTTP/1.1\r\n", "not a frame of Weft's launcher"},
		{"other version", "\xb0\x07\x01\x01\x08\x00\x00\x00", "version 1 of the launcher protocol, this program version 6"},
		{"unknown kind", "\xb0\x07\x06\x63\x00\x00\x00\x00", "unknown kind of frame 99"},
		{"kind zero", "\xb0\x07\x06\x00\x00\x00\x00\x00", "unknown kind of frame 0"},
		{"too long", "\xb0\x07\x06\x06\x01\x00\x00\x00x", "with 1 bytes, the limit is 0"},
		{"far too long", "\xb0\x07\x06\x03\xff\xff\xff\xffx", "with 4294967295 bytes"},
		{"cut in the header", "\xb0\x07\x06", "ended inside a frame"},
		{"cut in the payload", "\xb0\x07\x06\x01\x08\x00\x00\x00xyz", "3 bytes into 8"},
	} {
		_, _, err := readFrame(strings.NewReader(c.bytes), 4)
		if !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	if _, _, err := readFrame(strings.NewReader(""), 4); err != io.EOF {
		t.Errorf("empty stream: %v", err)
	}
}

func TestTablesThatLieAreRefused(t *testing.T) {
	good := appendTable(nil, 1, [][]byte{[]byte("ab"), nil})
	for name, p := range map[string][]byte{
		"short":               good[:11],
		"wrong count":         appendTable(nil, 1, [][]byte{nil}),
		"ends before a rank":  good[:len(good)-4],
		"bytes after the end": append(good[:len(good):len(good)], 0),
		"part beyond the end": append(appendTable(nil, 1, [][]byte{nil, nil})[:12], 9, 0, 0, 0, 0, 0, 0, 0),
		"part over the limit": appendTable(nil, 1, [][]byte{make([]byte, MaxExchange+1), nil}),
	} {
		if _, _, err := parseTable(p, 2); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewsAndAbortsThatLieAreRefused(t *testing.T) {
	for name, p := range map[string][]byte{
		"lost, cut":           {1, 0, 0},
		"lost beyond the job": appendLost(nil, &cause.LostError{Rank: 3}),
		"lost, about nobody":  appendFail(nil, io.EOF),
	} {
		if lost, err := parseLost(p, 3); lost != nil || !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v, %v", name, lost, err)
		}
	}
	if _, _, err := parseAbort(nil); !errors.Is(err, ErrProtocol) {
		t.Error("an abort without a code:", err)
	}
	long := strings.Repeat("x", 2*maxFailText)
	if lost, err := parseLost(appendLost(nil, &cause.LostError{Rank: 1, Reason: long}), 3); err != nil || lost.Rank != 1 || lost.Reason != long[:maxFailText] {
		t.Errorf("a long reason: %v, %v", lost, err)
	}
	if code, why, err := parseAbort(appendAbort(nil, 3, long)); code != 3 || why != long[:maxFailText] || err != nil {
		t.Errorf("a long why: %d, %d bytes, %v", code, len(why), err)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("cmd=init"))
	for _, b := range [][]byte{
		appendFrame(nil, kindHello, hello{1, 2}.append(nil)),
		appendFrame(nil, kindWelcome, welcome{rank: 1}.append(nil)),
		appendFrame(nil, kindOffer, appendOffer(nil, 5, []byte("ab"))),
		appendFrame(nil, kindTable, appendTable(nil, 5, [][]byte{nil, []byte("b"), nil})),
		appendFrame(nil, kindFail, appendFail(nil, &cause.LostError{Rank: 1, Reason: "x"})),
		appendFrame(nil, kindBye, nil),
		appendFrame(nil, kindLost, appendLost(nil, &cause.LostError{Rank: 1, Reason: "x"})),
		appendFrame(nil, kindAbort, appendAbort(nil, 3, "x")),
		appendFrame(nil, kindRest, appendRest(nil, true)),
	} {
		f.Add(b)
	}
	const size = 3
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, p, err := readFrame(bytes.NewReader(b), size)
		if err != nil {
			return
		}
		if again := appendFrame(nil, kind, p); !bytes.HasPrefix(b, again) {
			t.Fatalf("%x was read as %x", b, again)
		}
		var back []byte
		switch kind {
		case kindHello:
			h, err := parseHello(p)
			if err != nil {
				return
			}
			back = h.append(nil)
		case kindWelcome:
			w, err := parseWelcome(p)
			if err != nil {
				return
			}
			back = w.append(nil)
		case kindOffer:
			n, part, err := parseOffer(p)
			if err != nil {
				return
			}
			back = appendOffer(nil, n, part)
		case kindTable:
			n, parts, err := parseTable(p, size)
			if err != nil {
				return
			}
			back = appendTable(nil, n, parts)
		case kindFail:
			if parseFail(p, size) == nil {
				t.Fatal("a failure became none")
			}
			return
		case kindLost:
			lost, err := parseLost(p, size)
			if err != nil {
				return
			}
			back = appendLost(nil, lost)
		case kindAbort:
			code, why, err := parseAbort(p)
			if err != nil {
				return
			}
			back = appendAbort(nil, code, why)
		case kindRest:
			on, err := parseRest(p)
			if err != nil {
				return
			}
			back = appendRest(nil, on)
		case kindBye:
		default: // between the launcher and an agent: FuzzAgentFrames
			return
		}
		if !bytes.Equal(back, p) {
			t.Fatalf("payload %x comes back as %x", p, back)
		}
	})
}

func TestCardsComeBack(t *testing.T) {
	for _, leads := range []bool{false, true} {
		c, err := newCard()
		if err != nil {
			t.Fatal(err)
		}
		if c.leads = leads; leads {
			c.id, c.key = newIdentity()
		}
		got, err := parseCard(c.append(nil))
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%+v comes back as %+v, %v", c, got, err)
		}
	}
}

func FuzzCard(f *testing.F) {
	f.Add(card{cores: []byte{3}}.append(nil))
	f.Add(card{cores: []byte{3, 1}, leads: true}.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseCard(b)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Fatal(err)
			}
			return
		}
		if back := c.append(nil); !bytes.Equal(back, b) {
			t.Fatalf("card %x comes back as %x", b, back)
		}
	})
}
