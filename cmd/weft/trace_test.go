package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// ranksOf are the ranks that a trace has slices of.
func ranksOf(t *testing.T, name string) map[int]bool {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		TraceEvents []struct {
			Ph  string
			Pid int
		}
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	ranks := map[int]bool{}
	for _, e := range f.TraceEvents {
		if e.Ph == "X" {
			ranks[e.Pid-1] = true
		}
	}
	return ranks
}

func TestRunWritesATraceWhereWeftWasStarted(t *testing.T) {
	dir := t.TempDir()
	traced := weft(t, "run", "-n", "2", "--trace", "job.json", os.Args[0], "hang", "none")
	traced.Dir = dir
	if out, err := traced.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if ranks := ranksOf(t, filepath.Join(dir, "job.json")); len(ranks) != 2 || !ranks[0] || !ranks[1] {
		t.Errorf("the trace has the ranks %v", ranks)
	}
	refused := weft(t, "run", "-n", "2", "--trace", filepath.Join(dir, "no", "job.json"), os.Args[0], "hang", "none")
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "the trace can't be written") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTraceMergeJoinsFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	err := mpi.Run(3, func(w *mpi.World) error {
		if err := w.Comm().Barrier(); err != nil || w.Comm().Rank() > 0 {
			return err
		}
		return os.ErrInvalid // so that all keep their parts
	}, mpi.WithTrace(file), mpi.WithLogger(slog.New(slog.DiscardHandler)))
	if err == nil {
		t.Fatal("the job has not failed")
	}
	var out, errs bytes.Buffer
	code := run([]string{"trace", "merge", "-o", file, file + ".0", file + ".1", file + ".2"}, &out, &errs)
	if code != 0 || out.String() != file+" has the ranks 0 1 2\n" || errs.Len() > 0 || len(ranksOf(t, file)) != 3 {
		t.Errorf("exit code %d: %s%s", code, &out, &errs)
	}
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte("no trace"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"trace", exitUsage, "weft trace merge -o FILE PARTS"},
		{"trace split", exitUsage, "weft trace merge -o FILE PARTS"},
		{"trace merge " + file, exitUsage, "-o FILE"},
		{"trace merge -o " + file, exitUsage, "parts"},
		{"trace merge -o " + file + " " + bad, exitFailed, "no trace"},
		{"trace merge -o " + file + " " + bad + ".none", exitFailed, "no such file"},
	} {
		errs.Reset()
		if code := run(strings.Fields(c.args), &out, &errs); code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("weft %s: exit code %d: %s", c.args, code, &errs)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".weft-*"))
	if err != nil || len(left) > 0 || len(ranksOf(t, file)) != 3 {
		t.Errorf("what failed has left %v (%v), or changed the file", left, err)
	}
}
