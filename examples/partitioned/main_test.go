package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// Every partition has its row with the mean of what rank 0 has computed, and is
// consumed after it has arrived.
func TestTheTimelineHasEveryPartition(t *testing.T) {
	var out strings.Builder
	if err := mpi.Run(2, func(w *mpi.World) error { return pipeline(w, &out) }); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 1+parts || !strings.HasPrefix(lines[0], "partition") {
		t.Fatalf("%d lines:\n%s", len(lines), out.String())
	}
	row := regexp.MustCompile(`^ +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$`)
	for i, line := range lines[1:] {
		var partition int
		var computed, arrived, consumed, mean float64
		if !row.MatchString(line) {
			t.Fatalf("row %q", line)
		}
		if _, err := fmt.Sscan(line, &partition, &computed, &arrived, &consumed, &mean); err != nil {
			t.Fatal(err)
		}
		if partition != i || mean != float64(i+1) || consumed < arrived {
			t.Errorf("row %d: %s", i, line)
		}
	}
}

func TestOtherNumbersOfRanksAreRefused(t *testing.T) {
	err := mpi.Run(3, func(w *mpi.World) error { return pipeline(w, &strings.Builder{}) })
	if err == nil || !strings.Contains(err.Error(), "it takes 2 ranks, not 3") {
		t.Errorf("three ranks: %v", err)
	}
}
