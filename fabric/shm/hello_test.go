package shm

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func someHello() hello {
	return hello{
		version: helloVersion, rank: 1, size: 4, lines: ringLines, pay: mostPayload, membarrier: true,
		probeAddr: 0xc000123456, probeValue: 77, parked: 4711, arch: "amd64", job: "a job",
	}
}

func TestAGreetingComesBackAsMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 50, 200)
		h := hello{
			version: rapid.Uint32().Draw(t, "version"), rank: rapid.Uint32().Draw(t, "rank"), size: rapid.Uint32().Draw(t, "size"),
			lines: rapid.Uint32().Draw(t, "lines"), pay: rapid.Uint32().Draw(t, "pay"), membarrier: rapid.Bool().Draw(t, "membarrier"),
			probeAddr: rapid.Uint64().Draw(t, "addr"), probeValue: rapid.Uint64().Draw(t, "value"), parked: rapid.Uint32().Draw(t, "parked"),
			arch: text.Draw(t, "arch"), job: text.Draw(t, "job"), refusal: text.Draw(t, "refusal"), already: rapid.Bool().Draw(t, "already"),
		}
		got, err := decodeHello(h.encode())
		if err != nil || got != h {
			t.Fatalf("%+v came back as %+v, %v", h, got, err)
		}
	})
}

// What is not a greeting to the last byte is refused, never misread.
func FuzzDecodeHello(f *testing.F) {
	h := someHello()
	whole := h.encode()
	f.Add(whole)
	for n := range whole {
		f.Add(whole[:n])
	}
	f.Add(append(bytes.Clone(whole), 0))
	f.Add(bytes.Repeat([]byte{0xff}, maxHello))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err != nil {
			if err.Error() == "" || h != (hello{}) {
				t.Errorf("refused with %q and %+v", err, h)
			}
			return
		}
		again, err := decodeHello(h.encode())
		if err != nil || again != h {
			t.Errorf("%+v came back as %+v, %v", h, again, err)
		}
	})
}

func TestAMismatchNamesBothValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*hello)
		values []string
	}{
		{"version", func(h *hello) { h.version = 9 }, []string{"9", fmt.Sprint(helloVersion)}},
		{"architecture", func(h *hello) { h.arch = "arm64" }, []string{"arm64", "amd64"}},
		{"lines", func(h *hello) { h.lines = 1024 }, []string{"1024", "512"}},
		{"payload", func(h *hello) { h.pay = 4096 }, []string{"4096", "524288"}},
		{"job", func(h *hello) { h.job = "another" }, []string{"another", "a job"}},
		{"size", func(h *hello) { h.size = 8 }, []string{"8", "4"}},
		{"rank", func(h *hello) { h.rank = 4 }, []string{"4"}},
		{"no rank at all", func(h *hello) { h.rank = 1<<32 - 1 }, []string{"4294967295", "4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mine, theirs := someHello(), someHello()
			if err := mine.accepts(&theirs); err != nil {
				t.Fatalf("equal greetings: %v", err)
			}
			c.change(&theirs)
			err := mine.accepts(&theirs)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, v := range c.values {
				if !strings.Contains(err.Error(), v) {
					t.Errorf("%q does not name %s", err, v)
				}
			}
		})
	}
}
