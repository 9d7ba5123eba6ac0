package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/peek"
)

const stacksUsage = `weft stacks asks the ranks of a job on this host what they wait for, and says why
the job hangs: receives and sends that do not match, collective calls that differ
or that a rank has not made, holders of locks, partitions that are not ready,
deadlocks, ranks that do not reply. The ranks go on meanwhile.

usage: weft stacks [FLAGS] [JOB]

JOB is the beginning of the job's id, or the process id of a rank or of its
launcher; it can be left out if you run one job on this host.

`

// told is the output of weft stacks --json.
type told struct {
	Job        string            `json:"job"`
	Size       int               `json:"size"`
	Sentences  []string          `json:"sentences"`
	Ranks      []diagnose.Rank   `json:"ranks"`
	Silent     []diagnose.Silent `json:"silent"`
	Goroutines map[string]string `json:"goroutines,omitempty"` // stacks by process id
}

func runStacks(args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet("stacks", pflag.ContinueOnError)
	goroutines := flags.BoolP("goroutines", "g", false, "print the stacks of all goroutines too")
	asJSON := flags.Bool("json", false, "print what the ranks have told as JSON")
	wait := flags.Duration("wait", 2*time.Second, "how long to wait for the replies")
	if code, done := parse(flags, args, stacksUsage, "", stdout, stderr); done {
		return code
	}
	switch {
	case flags.NArg() > 1:
		return wrong(stderr, fmt.Errorf("weft stacks takes one job, it was given %s", strings.Join(flags.Args(), " ")))
	case *wait <= 0:
		return wrong(stderr, fmt.Errorf("--wait %v leaves no time for replies", *wait))
	}
	ctx := context.Background()
	j, err := find(ctx, flags.Arg(0))
	if err != nil {
		fmt.Fprintln(stderr, "weft:", err)
		return exitFailed
	}
	all := j.states(ctx, *wait)
	t := told{Job: j.id, Size: j.Size, Sentences: all.Sentences(), Ranks: all.Ranks, Silent: all.Silent}
	if *goroutines {
		t.Goroutines = j.stacks(ctx, *wait)
	}
	code := 0
	if len(all.Ranks) == 0 {
		code = exitFailed // nobody has replied
	}
	if *asJSON {
		text, err := json.MarshalIndent(&t, "", "  ")
		if err != nil {
			fmt.Fprintln(stderr, "weft:", err)
			return exitFailed
		}
		return max(code, say(stdout, stderr, string(text)+"\n"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "job %s\n", j)
	describe(&b, all, t.Sentences)
	for _, pid := range slices.Sorted(maps.Keys(t.Goroutines)) {
		// Indented, the text of a process looks like no line of weft's.
		fmt.Fprintf(&b, "\nprocess %s\n\n  %s\n", pid, strings.ReplaceAll(strings.TrimSpace(t.Goroutines[pid]), "\n", "\n  "))
	}
	return max(code, say(stdout, stderr, b.String()))
}

// stacks returns the stacks of the goroutines of all processes that reply, by process id.
func (j *running) stacks(ctx context.Context, wait time.Duration) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	texts := map[string]string{}
	for _, r := range peek.Ask(ctx, j.ranks, "stacks") {
		var text string
		if r.Unmarshal(&text) == nil {
			texts[fmt.Sprint(r.PID)] = text
		}
	}
	return texts
}

// mostLines bounds the operations that are listed of a rank.
const mostLines = 12

// describe prints the sentences, then what each rank waits for.
func describe(b *strings.Builder, j *diagnose.Job, sentences []string) {
	for _, s := range sentences {
		fmt.Fprintf(b, "=> %s\n", s)
	}
	if len(sentences) == 0 {
		b.WriteString("=> nothing keeps the ranks from going on, as far as they tell\n")
	}
	for i := range j.Ranks {
		fmt.Fprintf(b, "rank %d\n%s", j.Ranks[i].Rank, cmp.Or(j.Listing(&j.Ranks[i], mostLines), "  nothing waits\n"))
	}
}
