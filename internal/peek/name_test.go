package peek

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const tag = "/0123456789abcdef0123456789abcdef"

func TestNamesAreTakenApart(t *testing.T) {
	for socket, want := range map[string]Name{
		"@weft/00ff/0" + tag:                            {"00ff", 0, tag[1:]},
		"@weft/00ff/1023" + tag:                         {"00ff", 1023, tag[1:]},
		"@weft/" + strings.Repeat("a", 64) + "/7" + tag: {strings.Repeat("a", 64), 7, tag[1:]},
		"@weft/" + strings.Repeat("a", 65) + "/7" + tag: {},
		"@weft/00ff/0":                                  {},
		"@weft/00ff/0" + tag[1:]:                        {},
		"@weft/00ff/0" + tag + "0":                      {},
		"@weft/00ff/" + tag:                             {},
		"@weft/00ff/-1" + tag:                           {},
		"@weft/00ff/+1" + tag:                           {},
		"@weft/00ff/01" + tag:                           {},
		"@weft/00ff/1/2" + tag:                          {},
		"@weft/00FF/1" + tag:                            {},
		"@weft//1" + tag:                                {},
		"@weft/00fg/1" + tag:                            {},
		"/weft/00ff/1" + tag:                            {},
		"@weft-00ff/1" + tag:                            {},
	} {
		got, ok := parse(socket)
		if ok != (want.Job != "") || ok && (got != want || got.socket() != socket) {
			t.Errorf("%s: %+v, %t", socket, got, ok)
		}
	}
}

// Whoever sees the names of a job, or of one of its ranks, can't take another one's.
func TestNamesAreMadeOfTheJobsKey(t *testing.T) {
	name := NameOf(Key{1}, "00ff", 0)
	if name == NameOf(Key{2}, "00ff", 0) || name.Tag == NameOf(Key{1}, "00ff", 1).Tag || name.Tag == NameOf(Key{1}, "00fe", 0).Tag ||
		strings.Contains(lastSocket(Key{1}, "00ff"), name.Tag) || lastSocket(Key{1}, "00ff") == lastSocket(Key{2}, "00ff") {
		t.Errorf("%s, %s", name.socket(), lastSocket(Key{1}, "00ff"))
	}
}

func TestOnlyListenersAreListed(t *testing.T) {
	const table = `Num       RefCount Protocol Flags    Type St Inode Path
ffff000000000001: 00000002 00000000 00010000 0001 01 100 @weft/b0/1TAG
ffff000000000002: 00000003 00000000 00000000 0001 03 101 @weft/b0/1TAG
ffff000000000003: 00000002 00000000 00010000 0001 01 102 @weft/b0/0TAG
ffff000000000004: 00000002 00000000 00010000 0001 01 103 @weft/a0/10TAG
ffff000000000005: 00000002 00000000 00010000 0001 01 104 @weft/a0/9TAG
ffff000000000006: 00000002 00000000 00010000 0001 01 105 /run/weft/a0/9TAG
ffff000000000007: 00000002 00000000 00010000 0001 01 106
ffff000000000008: 00000002 00000000 00010000 0001 01 107 @weft/a0/3TAG x
ffff000000000009: 00000002 00000000 0001x000 0001 01 108 @weft/a0/4TAG
`
	got, err := list(strings.NewReader(strings.ReplaceAll(table, "TAG", tag)))
	if want := []Name{{"a0", 9, tag[1:]}, {"a0", 10, tag[1:]}, {"b0", 0, tag[1:]}, {"b0", 1, tag[1:]}}; err != nil || !slices.Equal(got, want) {
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
