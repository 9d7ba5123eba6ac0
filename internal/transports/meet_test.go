package transports

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/wire"
)

// meetWith lets rank 0 meet a rank 1 whose card is b.
func meetWith(t *testing.T, b []byte) (*Routes, error) {
	four, _, _, _, _ := withTCP()
	return four.join(t.Context(), hosts(0, 1)[0], func(_ context.Context, mine []byte) ([][]byte, error) {
		return [][]byte{mine, b}, nil
	}, "shm+tcp", Settings{Log: discard})
}

// Ranks that would not understand one another are told what differs, and the
// remedy.
func TestRanksThatDifferAreToldSo(t *testing.T) {
	t.Setenv(fabricVar, "")
	t.Setenv(nodeVar, "")
	good := func() card {
		return card{Wire: wire.Version, Arch: runtime.GOARCH, Fabric: "shm+tcp", Ways: map[string][]byte{"shm": []byte("shm 1"), "tcp": []byte("tcp 1")}}
	}
	for want, change := range map[string]func(*card){
		"":                                    func(*card) {},
		"speaks wire version 1 and this rank": func(c *card) { c.Wire = 1 },
		"runs on vax and this rank on " + runtime.GOARCH:                                                             func(c *card) { c.Arch = "vax" },
		"uses fabric shm+verbs and this rank shm+tcp":                                                                func(c *card) { c.Fabric = "shm+verbs" },
		"uses fabric shm and this rank shm+tcp: choose the same on all ranks, and set WEFT_NODE for all or for none": func(c *card) { c.Fabric, c.Node = "shm", "a" },
		"has the transports shm, this rank has shm, tcp":                                                             func(c *card) { delete(c.Ways, "tcp") },
		"has the transports , this rank has shm, tcp, and":                                                           func(c *card) { c.Ways = nil },
	} {
		c := good()
		change(&c)
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := meetWith(t, b)
		switch {
		case want == "" && err != nil:
			t.Error(err)
		case want == "":
			if got := ways(t, r); got != "shm tcp" {
				t.Errorf("the ranks are reached over %s", got)
			}
		case err == nil || !strings.Contains(err.Error(), "rank 1 ") || !strings.Contains(err.Error(), want):
			t.Errorf("%v, want %q", err, want)
		}
	}
	var syntax *json.SyntaxError
	if _, err := meetWith(t, []byte("hello")); !errors.As(err, &syntax) || !strings.Contains(err.Error(), "rank 1: what it says of itself can't be read") {
		t.Errorf("a card that is none: %v", err)
	}
}

// Whatever a rank says of itself, the answer is an error or a way to reach it.
func FuzzCard(f *testing.F) {
	f.Add([]byte(`{"wire":1,"arch":"amd64","fabric":"shm+tcp","ways":{"tcp":"AA=="},"getmin":-1}`))
	f.Add([]byte(`{"ways":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := meetWith(t, b)
		if err == nil && (len(r.Via) != 2 || r.Via[1] >= len(r.Domains)) {
			t.Errorf("%s gives %+v", b, r)
		}
	})
}
