package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/peek"
	"github.com/weft-mpi/weft/mpi"
)

// A process that is no rank tells whatever it likes, which no terminal takes for more than
// text, and no reader for what weft says.
func TestWhatARankSaysIsNoCommandOfTheTerminal(t *testing.T) {
	const bad = "\x1b]0;mine\a\u009b2J\u202e\n=> forged\nrank 7 forged\nprocess 8 forged"
	const job = "5794a0e200000000"
	give := func(v any) peek.Answer { return peek.Answer{Give: func() (any, error) { return v, nil }} }
	state := diagnose.Rank{Waits: []diagnose.Wait{{Kind: diagnose.Other, What: bad, State: bad, Place: bad, Call: bad, Claim: bad, Goroutine: 1, Needs: []int{1}}},
		Goroutines: []diagnose.Goroutine{{Need: 1}}, Comms: []diagnose.Comm{{Name: bad}}}
	var counts mpi.Snapshot
	counts.Add(mpi.SnapshotFamily{Name: bad, Help: bad}, 1)
	s, err := peek.Serve(peek.Config{About: peek.About{Job: job, Size: 2, Fabric: bad}, Answers: map[string]peek.Answer{
		"hello": give(true), "pending": give(state), "settled": give(state), "stacks": give(bad), "snapshot": give(counts),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, args := range []string{"stacks -g", "stacks -g --json", "top --once --interval 100ms", "top --once --interval 100ms --json"} {
		var out, errs bytes.Buffer
		if code := run(append(strings.Fields(args), job[:8]), &out, &errs); code != 0 {
			t.Fatalf("weft %s: exit code %d: %s", args, code, &errs)
		}
		for line := range strings.Lines(out.String()) {
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("weft %s prints %q", args, line)
			}
			for _, forged := range []string{"=> forged", "rank 7 forged", "process 8 forged"} {
				if strings.HasPrefix(line, forged) {
					t.Errorf("weft %s prints a line of the rank's: %q", args, line)
				}
			}
		}
		if !strings.Contains(args, "json") && !strings.Contains(out.String(), `forged`) {
			t.Errorf("weft %s hides what it was told:\n%s", args, &out)
		}
	}
}
