package transports

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

func named(list []Protocol) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Way)
		if p.Alloc {
			b.WriteString(" of Alloc")
		}
		b.WriteString(";")
	}
	return b.String()
}

func TestProtocolsFollowFromTheCapabilities(t *testing.T) {
	for _, c := range []struct {
		caps  fabric.Caps
		want  string
		froms []int
	}{
		{fabric.Caps{MaxEager: 8192, Chunk: 2048, RndvMin: 16384, RndvMinMapped: 4096, Get: true, Put: true},
			"eager;eager, in packets;rendezvous by Get;rendezvous by Get of Alloc;", []int{0, 8193, 16384, 4096}},
		{fabric.Caps{MaxEager: 16384, Chunk: 16384, RndvMin: 65536, RndvMinMapped: 65536, Get: true, Put: true},
			"eager;eager, in packets;rendezvous by Get;", []int{0, 16385, 65536}},
		{fabric.Caps{MaxEager: 100, Chunk: 100, RndvMin: 101, RndvMinMapped: 101, Get: true, Put: true, PutFirst: true},
			"eager;rendezvous by Put;", []int{0, 101}},
		{fabric.Caps{MaxEager: 8192, Chunk: 2048, RndvMin: 6144, RndvMinMapped: 6144},
			"eager;rendezvous;", []int{0, 6144}},
	} {
		list := protocols(c.caps, "because")
		if named(list) != c.want {
			t.Errorf("%+v: %s, want %s", c.caps, named(list), c.want)
			continue
		}
		for i, p := range list {
			if p.From != c.froms[i] || p.What == "" || p.Why == "" {
				t.Errorf("%+v: %+v, want it from %d on", c.caps, p, c.froms[i])
			}
		}
		for _, p := range list {
			if decided := p.From == c.caps.RndvMin; decided != (p.Why == "because") {
				t.Errorf("%+v: the threshold is %d", p, c.caps.RndvMin)
			}
		}
	}
}

func TestEachTransportTellsItsProtocols(t *testing.T) {
	t.Setenv("WEFT_SHM_GET_MIN", "5000")
	for _, tr := range transports {
		list, err := Protocols(tr.name)
		if missing := Available(tr.name); missing != nil {
			if err == nil || !strings.Contains(err.Error(), missing.Error()) {
				t.Errorf("%s is not available (%v) and tells %v", tr.name, missing, err)
			}
			continue
		}
		if err != nil || len(list) < 2 || list[0].From != 0 {
			t.Errorf("%s: %+v, %v", tr.name, list, err)
			continue
		}
		found := slices.ContainsFunc(list, func(p Protocol) bool { return p.From == 5000 && p.Why == "WEFT_SHM_GET_MIN" })
		if found != (tr.name == "shm") {
			t.Errorf("with WEFT_SHM_GET_MIN=5000 %s has %+v", tr.name, list)
		}
	}
	if _, err := Protocols("shm+tcp"); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("two transports: %v", err)
	}
	if _, err := Protocols("shmem"); err == nil {
		t.Error("a transport that there is not has protocols")
	}
}

func TestTheReasonOfTheThresholdIsTold(t *testing.T) {
	for _, c := range []struct {
		from Threshold
		want string
	}{
		{Threshold{Bytes: 1, Set: true}, "WEFT_SHM_GET_MIN"},
		{Threshold{Bytes: 1, Measured: true}, "measured on this machine"},
		{Threshold{Bytes: 1, Err: errors.New("there is one processor")}, "a default, since it could not be measured: there is one processor"},
	} {
		if got := c.from.why(); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c.from, got)
		}
	}
}
