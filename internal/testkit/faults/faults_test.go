package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// patience is when a test calls something hung.
const patience = 10 * time.Minute

// build makes the command, once, with and without its tag.
var build = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "weft-faults-test"); err != nil {
		return "", err
	}
	for name, tags := range map[string]string{"faults": "faults", "untagged": ""} {
		out, err := exec.Command("go", "build", "-tags", tags, "-o", filepath.Join(dir, name), ".").CombinedOutput()
		if err != nil {
			return dir, errors.New(string(out))
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := build(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// faults runs the command and returns what it has printed.
func faults(t *testing.T, name string, args ...string) (out string, err error) {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, name), args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	b, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%v\n%s", ctx.Err(), b)
	}
	return string(b), err
}

// total is the table's last row: runs, hangs, wrong, leaks.
var total = regexp.MustCompile(`(?m)^all +([0-9]+) +([0-9]+) +([0-9]+) +([0-9]+) `)

func TestTheMatrixOfSoundTransports(t *testing.T) {
	out, err := faults(t, "faults", "-runs", "2", "-transport", "shm", "-run", "^(idle|Get|barrier by flags|closing)")
	m := total.FindStringSubmatch(out)
	if err != nil || m == nil || !slices.Equal(m[1:], []string{"24", "0", "0", "0"}) {
		t.Errorf("%v\n%s", err, out)
	}
	if rows := regexp.MustCompile(`(?m)^shm +.*[0-9] ms  rank [0-9]: \w.*$`).FindAllString(out, -1); len(rows) < 9 {
		t.Errorf("%d rows have a time, of 9 that must\n%s", len(rows), out)
	}
}

// What a survivor does wrong is found, under its name.
func TestPlantedFaultsAreFound(t *testing.T) {
	for _, c := range []struct {
		plant  string
		column int // of total
		says   string
	}{
		{"shm", 4, "leak: " + plantedShm}, // before those that run at the same time and would see it
		{"hang", 2, "hang: not over after 3s: ranks ["},
		{"unreached", 2, "wrong: the point of the kill was not reached"},
		{"wrong", 3, "of 8 bytes from rank 2 has other bytes than were sent"},
		{"descriptor", 4, "leak: rank 3: descriptors: /dev/null"},
		{"goroutine", 4, "main.(*player).plant"},
		{"process", 4, "(sleep)"},
	} {
		t.Run(c.plant, func(t *testing.T) {
			if c.plant == "shm" {
				defer os.Remove(plantedShm)
			} else {
				t.Parallel()
			}
			args := []string{"-runs", "1", "-transport", "shm", "-run", "^idle, connected/sender/", "-plant", c.plant}
			if c.column == 2 {
				args = append(args, "-hang", "3s")
			}
			out, err := faults(t, "faults", args...)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("the exit: %v", err)
			}
			if m := total.FindStringSubmatch(out); m == nil || m[c.column] != "1" {
				t.Errorf("column %d is not 1", c.column)
			}
			if !strings.Contains(out, c.says) {
				t.Errorf("it does not say %q", c.says)
			}
			if !strings.Contains(out, "-seed 1 -transport shm -run '^idle, connected/sender/shm$'") {
				t.Error("it does not say how to run it again")
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

// A rank that hangs says what it waits for.
func TestTheOutputOfAHangIsKept(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	out, _ := faults(t, "faults", "-runs", "1", "-transport", "shm", "-run", "^idle, connected/sender/", "-plant", "hang", "-hang", "15s") // until then it is in its call
	name := regexp.MustCompile(`its output: (\S+)`).FindStringSubmatch(out)
	if name == nil {
		t.Fatal(out)
	}
	text, err := os.ReadFile(name[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"weft: rank 3 of 4", "receive from rank 2, tag 6", "main.(*player).play("} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the output does not have %q:\n%.3000s", want, text)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, says string
		args       []string
	}{
		{"untagged", "build it with -tags faults", nil},
		{"faults", "matches", []string{"-run", "no such state"}},
		{"faults", "at least one run", []string{"-runs", "0"}},
		{"faults", "unknown fabric", []string{"-transport", "pigeon"}},
		{"faults", "missing closing", []string{"-run", "("}},
	} {
		if out, err := faults(t, c.name, c.args...); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s %q: %v, %s", c.name, c.args, err, out)
		}
	}
}

func TestStatesAreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for i, s := range states {
		if seen[s.name] || stateOf(s.name) != &states[i] {
			t.Errorf("%q is there twice", s.name)
		}
		seen[s.name] = true
		if strings.Contains(s.name, "/") || s.name == "" {
			t.Errorf("%q is no part of a cell's name", s.name)
		}
		if s.collective != (s.all != nil) || s.collective == (s.pair[0] != nil && s.pair[1] != nil) {
			t.Errorf("%q: either all ranks play, or a pair", s.name)
		}
		if (s.kill.label == "") == (s.kill.point.Event == 0) {
			t.Errorf("%q: the kill is either at a label or in the traffic", s.name)
		}
	}
}

func TestSeedsDecide(t *testing.T) {
	none := 0
	for seed := range uint64(100) {
		a, b := spec{Seed: seed, Fabric: "shm+tcp"}, spec{Seed: seed, Fabric: "shm+tcp"}
		if a.delay() != b.delay() {
			t.Errorf("seed %d has two delays", seed)
		}
		if a.delay() == 0 {
			none++
		}
		b.Seed++
		if (a.node(0) == a.node(1)) == (b.node(0) == b.node(1)) {
			t.Errorf("the pair of seed %d is where that of the next one is", seed)
		}
	}
	if none < 30 || none > 70 {
		t.Errorf("%d of 100 kills come at once", none)
	}
	if s := (spec{Fabric: "tcp"}); s.node(1) != "" {
		t.Error("ranks of one fabric have machines")
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		text string
		rank int
		want bool
	}{
		{"talk (rank 1): gone", 1, true},
		{"talk (rank 12): gone", 1, false},
		{"rank 10 and rank 1", 1, true},
		{"rank 10, rank 11", 1, false},
		{"", 1, false},
	} {
		if names(c.text, c.rank) != c.want {
			t.Errorf("%q names rank %d: want %t", c.text, c.rank, c.want)
		}
	}
}

func TestBeyond(t *testing.T) {
	for _, c := range []struct{ list, before, want []string }{
		{nil, nil, nil},
		{[]string{"a", "b"}, []string{"a", "b"}, nil},
		{[]string{"a", "a", "b"}, []string{"a", "b"}, []string{"a"}},
		{[]string{"a", "c"}, []string{"b", "c"}, []string{"a"}},
		{nil, []string{"a"}, nil},
	} {
		if got := beyond(c.list, c.before); !slices.Equal(got, c.want) {
			t.Errorf("%q beyond %q: %q, want %q", c.list, c.before, got, c.want)
		}
	}
}
