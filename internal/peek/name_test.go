package peek

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestNamesAreTakenApart(t *testing.T) {
	for socket, want := range map[string]Name{
		"@weft/00ff/0":    {"00ff", 0},
		"@weft/00ff/1023": {"00ff", 1023},
		"@weft/" + strings.Repeat("a", 64) + "/7": {strings.Repeat("a", 64), 7},
		"@weft/" + strings.Repeat("a", 65) + "/7": {},
		"@weft/00ff/":    {},
		"@weft/00ff/-1":  {},
		"@weft/00ff/+1":  {},
		"@weft/00ff/01":  {},
		"@weft/00ff/1/2": {},
		"@weft/00FF/1":   {},
		"@weft//1":       {},
		"@weft/00fg/1":   {},
		"/weft/00ff/1":   {},
		"@weft-00ff/1":   {},
	} {
		got, ok := parse(socket)
		if ok != (want.Job != "") || ok && (got != want || got.socket() != socket) {
			t.Errorf("%s: %+v, %t", socket, got, ok)
		}
	}
}

func TestOnlyListenersAreListed(t *testing.T) {
	const table = `Num       RefCount Protocol Flags    Type St Inode Path
ffff000000000001: 00000002 00000000 00010000 0001 01 100 @weft/b0/1
ffff000000000002: 00000003 00000000 00000000 0001 03 101 @weft/b0/1
ffff000000000003: 00000002 00000000 00010000 0001 01 102 @weft/b0/0
ffff000000000004: 00000002 00000000 00010000 0001 01 103 @weft/a0/10
ffff000000000005: 00000002 00000000 00010000 0001 01 104 @weft/a0/9
ffff000000000006: 00000002 00000000 00010000 0001 01 105 /run/weft/a0/9
ffff000000000007: 00000002 00000000 00010000 0001 01 106
ffff000000000008: 00000002 00000000 00010000 0001 01 107 @weft/a0/3 x
ffff000000000009: 00000002 00000000 0001x000 0001 01 108 @weft/a0/4
`
	got, err := list(strings.NewReader(table))
	if want := []Name{{"a0", 9}, {"a0", 10}, {"b0", 0}, {"b0", 1}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

func TestARankRepliesToItsUserAndToRoot(t *testing.T) {
	me := uint32(os.Geteuid())
	if !mayAsk(me) || !mayAsk(0) || mayAsk(me+1) && me+1 != 0 {
		t.Error("the wrong users may ask")
	}
	if !mayTrust(me) || mayTrust(me+1) != (me == 0) {
		t.Error("the wrong users are trusted")
	}
	for _, cfg := range []Config{{}, {About: About{Job: "A0"}}, {About: About{Job: "a0", Rank: -1}}} {
		if s, err := Serve(cfg); err == nil {
			s.Close()
			t.Errorf("job %q, rank %d are taken", cfg.Job, cfg.Rank)
		}
	}
}
