package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// differing is what differs from run to run in what weft prints about the page's job.
var differing = []struct{ is, becomes string }{
	{`for [0-9][0-9hms.]*s\b`, "for TIME"}, {`\(rank 0 is process [0-9]+\)`, "(rank 0 is process PID)"}, {`job [0-9a-f]{8}`, "job ID"},
	{`/[^ ]*/main\.go`, "main.go"}, {` +`, " "}, {`(?m)^ ([0-2]) [0-9]+ (.*) [0-9]+ rank `, "$1 PID $2 REQUESTS rank "},
}

func alike(text string) string {
	for _, d := range differing {
		text = regexp.MustCompile(d.is).ReplaceAllString(text, d.becomes)
	}
	return strings.TrimSpace(text)
}

// blocks are the texts of a page between ```kind and ```.
func blocks(page, kind string) (all []string) {
	for _, m := range regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

// The program of docs/operating.md, and what weft prints about it, are real.
func TestTheOperatingPageIsTrue(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	programs := blocks(string(text), "go")
	for i, name := range []string{"hung", "slow"} {
		source, err := os.ReadFile(filepath.Join("testdata", name, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		if len(programs) != 2 || programs[i] != string(source) {
			t.Errorf("program %d of the page is not testdata/%s/main.go", i, name)
		}
	}
	want := map[string]string{} // what each command prints, by its line
	for _, b := range blocks(string(text), "text") {
		if line, out, ok := strings.Cut(b, "\n"); ok && strings.HasPrefix(line, "$ weft ") && strings.Contains(out, "./hung") {
			want[strings.TrimPrefix(line, "$ weft ")] = alike(out)
		}
	}
	if len(want) != 2 {
		t.Fatalf("the page has %d commands", len(want))
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "hung"), "./testdata/hung").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := weft(t, "run", "-n", "3", "./hung")
	cmd.Dir = dir
	var printed bytes.Buffer
	cmd.Stderr = &printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Signal(os.Interrupt)
	job := ""
	for end := time.Now().Add(patience); job == ""; {
		list, err := jobs(t.Context())
		if err != nil || time.Now().After(end) {
			t.Fatalf("the job is not found: %v\n%s", err, printed.String())
		}
		for _, j := range list {
			if j.Parent == cmd.Process.Pid && len(j.ranks) == 3 {
				job = j.id
			}
		}
	}
	for command, want := range want {
		for end := time.Now().Add(patience); ; {
			var out bytes.Buffer
			run(append(strings.Fields(command), job), &out, &out)
			if alike(out.String()) == want {
				break
			}
			if time.Now().After(end) {
				t.Errorf("weft %s prints\n%s\nand the page says\n%s", command, alike(out.String()), want)
				break
			}
		}
	}
}

// The trace of the page's slow program shows what the page says: rank 0 comes early.
func TestTheTraceOfTheSlowProgramSaysWhoWaits(t *testing.T) {
	tier.Long(t, "it measures, and a busy machine disturbs that")
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "slow"), "./testdata/slow").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for tries := 5; ; tries-- { // a machine may be busier than the program is uneven
		calls, spent := inCollectives(t, filepath.Join(dir, "slow"))
		if calls[1] != 5001 || calls[2] != 5001 || spent[1] <= spent[2] && tries == 1 {
			t.Errorf("rank 0 has made %d calls and spent %.0f µs in them, rank 1 %d and %.0f", calls[1], spent[1], calls[2], spent[2])
		}
		if t.Failed() || spent[1] > spent[2] {
			return
		}
	}
}

// inCollectives runs two ranks of a program, and returns their collective calls and the
// microseconds in them, by the process's number in the trace: the rank plus one.
func inCollectives(t *testing.T, program string) (calls map[int]int, spent map[int]float64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.json")
	if out, err := weft(t, "run", "-n", "2", "--trace", file, program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Cat string
			Pid int
			Dur float64
		}
	}
	if err := json.Unmarshal(text, &trace); err != nil {
		t.Fatal(err)
	}
	calls, spent = map[int]int{}, map[int]float64{}
	for _, e := range trace.TraceEvents {
		if e.Cat == "collective" {
			calls[e.Pid]++
			spent[e.Pid] += e.Dur
		}
	}
	return calls, spent
}
