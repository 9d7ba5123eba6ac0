package pt2pt

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	simSeeds = flag.Int("seeds", 200, "seeds that TestSim runs")
	simSeed  = flag.Uint64("seed", 0, "the one seed that TestSim replays, with its whole trace")
	simFrom  = flag.Uint64("from", 1, "first seed of TestSim")
	simSoak  = flag.Duration("soak", 0, "how long TestSim goes on with new seeds")
)

// traceLines is how much of the trace of a failing seed is shown.
const traceLines = 120

// drawWorld draws a job and what it does.
func drawWorld(seed uint64) (*simWorld, simPlan) {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	p := drawPlan(rng)
	w := newSimWorld(rng, p.nets[0].Size, newSimNets(rng, p.nets), p.limits)
	w.own = rand.New(rand.NewPCG(seed, 0x1a7e))
	p.drawLate(w.own)
	w.drawShapes(rand.New(rand.NewPCG(seed, 0x1a7007)))
	return w, p
}

// runSeed plays a seed and returns what broke.
func runSeed(seed uint64, tracing bool) (trace []byte, err error) {
	w, p := drawWorld(seed)
	w.tracing, w.raw = tracing, tracing
	w.note("%+v", p)
	err = w.run(p)
	return w.trace, err
}

// run plays the plan and closes the world.
func (w *simWorld) run(p simPlan) error {
	err := w.try(func() { w.play(p) })
	if err == nil {
		w.close()
		return nil
	}
	w.note("BROKEN: %v", err)
	w.nets.watch(nil)
	for _, r := range w.ranks { // the loops may be owned still
		r.shut()
	}
	return err
}

// tail returns the last lines of a trace.
func tail(trace []byte, n int) []byte {
	at := len(trace)
	for ; n >= 0 && at > 0; n-- {
		at = bytes.LastIndexByte(trace[:at], '\n')
	}
	return trace[max(at, 0):]
}

// Random jobs on random networks break no rule of MPI. A failing seed is
// replayed by `go test ./internal/pt2pt -run TestSim -seed S -v`.
func TestSim(t *testing.T) {
	if *simSeed != 0 {
		trace, err := runSeed(*simSeed, true)
		t.Logf("%s", trace)
		if err != nil {
			t.Fatalf("seed %d: %v", *simSeed, err)
		}
		return
	}
	n := uint64(*simSeeds)
	if testing.Short() {
		n = min(n, 50)
	}
	start := time.Now()
	last, report := *simFrom, start.Add(10*time.Second)
	for ; last < *simFrom+n || time.Since(start) < *simSoak; last++ {
		if _, err := runSeed(last, false); err != nil {
			trace, again := runSeed(last, true)
			if again == nil || again.Error() != err.Error() {
				t.Errorf("the replay is another: %v", again)
			}
			t.Fatalf("%s\nseed %d: %v\nreplay: go test ./internal/pt2pt -run TestSim -seed %d -v", tail(trace, traceLines), last, err, last)
		}
		if *simSoak > 0 && time.Now().After(report) {
			report = report.Add(10 * time.Second)
			fmt.Printf("%8v: %d seeds\n", time.Since(start).Round(time.Second), last-*simFrom+1)
		}
	}
	took := time.Since(start)
	t.Logf("%d seeds in %v, %.0f a second", last-*simFrom, took.Round(time.Millisecond), float64(last-*simFrom)/took.Seconds())
}

func TestASeedOfTheSimulationGivesTheSameTraceAgain(t *testing.T) {
	for seed := uint64(1); seed <= 30; seed++ {
		a, _ := runSeed(seed, true)
		b, _ := runSeed(seed, true)
		if !bytes.Equal(a, b) {
			i := 0
			for i < min(len(a), len(b)) && a[i] == b[i] {
				i++
			}
			t.Fatalf("seed %d: the traces part at byte %d of %d and %d:\n%s\nand\n%s", seed, i, len(a), len(b),
				tail(a[:min(i+200, len(a))], 5), tail(b[:min(i+200, len(b))], 5))
		}
		if len(a) < 1000 {
			t.Errorf("seed %d: %d bytes of trace", seed, len(a))
		}
	}
}
