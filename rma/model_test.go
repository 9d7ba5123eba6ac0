package rma

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

var (
	modelSeeds = flag.Int("seeds", 100, "seeds that TestModel runs")
	modelSeed  = flag.Uint64("seed", 0, "the one seed that TestModel plays again")
	modelFrom  = flag.Uint64("from", 1, "first seed of TestModel")
	modelWait  = flag.Duration("patience", patience, "when TestModel calls a program hung")
	modelSoak  = flag.Duration("soak", 0, "how long TestModel goes on with new seeds")
)

// runModel plays the program of a seed between goroutines.
func runModel(seed uint64) error {
	p := drawModel(seed)
	g, err := newMesh(fmt.Sprint("model ", seed), p.n, p.eager, memNetworks(p.n),
		func(a, b int) way { return p.ways[a][b] }, nil)
	if err != nil {
		return err
	}
	if err := p.play(g); err != nil {
		return fmt.Errorf("%v: %w", p, err)
	}
	return g.close()
}

// Random programs over windows leave what MPI allows, whatever way each pair of ranks
// goes. A failing seed is played again by `go test ./rma -run TestModel -seed S`; its
// ranks may take turns in another order then.
func TestModel(t *testing.T) {
	if *modelSeed != 0 {
		if err := runModel(*modelSeed); err != nil {
			t.Fatalf("seed %d: %v", *modelSeed, err)
		}
		return
	}
	n := uint64(*modelSeeds)
	if testing.Short() {
		n = min(n, 30)
	}
	last, start := *modelFrom, time.Now()
	for ; last < *modelFrom+n || time.Since(start) < *modelSoak; last++ {
		if err := runModel(last); err != nil {
			t.Fatalf("seed %d: %v\nagain: go test ./rma -run TestModel -seed %d", last, err, last)
		}
	}
	took := time.Since(start)
	t.Logf("%d seeds in %v, %.0f a second", last-*modelFrom, took.Round(time.Millisecond), float64(last-*modelFrom)/took.Seconds())
}
