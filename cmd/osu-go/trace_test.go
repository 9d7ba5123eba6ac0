package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestABenchmarkWritesATrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	var out, errs bytes.Buffer
	if status := run([]string{"latency", "--fabric", "mem", "--trace", file, "-m8:8", "-i10", "-x1"}, &out, &errs); status != 0 {
		t.Fatalf("status %d: %s%s", status, &out, &errs)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		TraceEvents []struct{ Ph, Cat, ID string }
		OtherData   struct{ Ranks []struct{ Rank int } }
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	ends := map[string]int{}
	for _, e := range f.TraceEvents {
		if e.Ph == "s" || e.Ph == "f" {
			ends[e.ID]++
		}
	}
	if len(f.OtherData.Ranks) != 2 || len(ends) < 22 { // eleven round trips at least
		t.Errorf("%d ranks with %d messages", len(f.OtherData.Ranks), len(ends))
	}
	for id, n := range ends {
		if n != 2 {
			t.Errorf("the arrow %s has %d ends", id, n)
		}
	}
	if status := run([]string{"latency", "--fabric", "mem", "--trace", ""}, &out, &errs); status != exitUsage {
		t.Errorf("a trace without a file: status %d", status)
	}
}
