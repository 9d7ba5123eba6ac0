package comm

import (
	"errors"
	"flag"
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

var (
	simSeeds = flag.Int("seeds", 300, "seeds that TestSim runs")
	simSeed  = flag.Uint64("seed", 0, "the one seed that TestSim replays, with its whole trace")
	simFrom  = flag.Uint64("from", 1, "first seed of TestSim")
	simSoak  = flag.Duration("soak", 0, "how long TestSim goes on with new seeds")
)

// Barriers by flags over random networks: no rank leaves one before all have come,
// none sleeps for ever, and a death ends the calls of the others. A failing seed is
// replayed by `go test ./internal/comm -run TestSim -seed S -v`.
func TestSim(t *testing.T) {
	if *simSeed != 0 {
		w := newSimWorld(t, *simSeed, true)
		err := w.run()
		t.Logf("%s", w.trace)
		if err != nil {
			t.Fatalf("seed %d: %v", *simSeed, err)
		}
		return
	}
	slept, start := 0, time.Now()
	last, n := *simFrom, uint64(*simSeeds)
	for ; last < *simFrom+n || time.Since(start) < *simSoak; last++ {
		w := newSimWorld(t, last, false)
		if err := w.run(); err != nil {
			t.Fatalf("seed %d: %v\nreplay: go test ./internal/comm -run TestSim -seed %d -v", last, err, last)
		}
		slept += w.slept
	}
	took := time.Since(start)
	t.Logf("%d seeds in %v, %.0f a second; %d sleeps", last-*simFrom, took.Round(time.Millisecond), float64(last-*simFrom)/took.Seconds(), slept)
	if slept == 0 {
		t.Error("no rank has slept")
	}
}

// A death at any step of a barrier ends the calls of the others.
func TestADeathAtAnyStepEndsABarrierByFlags(t *testing.T) {
	for seed := uint64(1); seed <= 8; seed++ { // 2 to 9 ranks
		whole := newSimWorld(t, seed, false)
		whole.die = never
		if err := whole.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		failed := 0
		for at := range whole.steps {
			if testing.Short() && at%7 != 0 {
				continue
			}
			w := newSimWorld(t, seed, false)
			w.die = at
			if err := w.run(); err != nil {
				t.Fatalf("seed %d, death at step %d: %v", seed, at, err)
			}
			for _, r := range w.ranks {
				if r.err != nil {
					failed++
				}
			}
		}
		if failed == 0 {
			t.Errorf("seed %d: no death has ended a call", seed)
		}
	}
}

func TestASeedOfTheSimulationGivesTheSameTraceAgain(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		a, b := newSimWorld(t, seed, true), newSimWorld(t, seed, true)
		if err := errors.Join(a.run(), b.run()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(a.trace) < 100 || string(a.trace) != string(b.trace) {
			t.Errorf("seed %d: the traces of %d and %d bytes differ, or are short", seed, len(a.trace), len(b.trace))
		}
	}
}

// never is a step that does not come.
const never = -1

// mostSteps is when a run that has not ended goes on for ever. Whole runs of 9
// ranks take some thousand.
const mostSteps = 1 << 20

// run drives the ranks until all have ended, and then closes the world.
func (w *simWorld) run() (err error) {
	defer func() {
		if p := recover(); p != nil { // somebody owns a loop still
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		} else {
			w.close()
		}
		if err != nil {
			w.note("BROKEN: %v", err)
		}
	}()
	return w.drive()
}

func (w *simWorld) drive() error {
	for ; w.steps < mostSteps; w.steps++ {
		if w.steps == w.die {
			w.kill(w.ranks[w.rng.IntN(len(w.ranks))])
		}
		var ready []*simRank
		left := 0
		for _, r := range w.ranks {
			if r.over() {
				continue
			}
			left++
			if r.mayGo() {
				ready = append(ready, r)
			}
		}
		switch {
		case left == 0:
			return nil
		case w.rng.IntN(w.slowNet) == 0 && w.net.Step():
		case len(ready) > 0:
			if err := ready[w.rng.IntN(len(ready))].step(); err != nil {
				return err
			}
		case !w.net.Step():
			return w.stuck()
		}
	}
	return errors.New("the ranks do not come to an end")
}

// stuck says who sleeps for ever.
func (w *simWorld) stuck() error {
	err := errors.New("nothing can happen any more")
	for _, r := range w.ranks {
		if !r.over() {
			err = fmt.Errorf("%w; rank %d is %v in barrier %d of communicator %d", err, r.id, r.state, r.number, r.gen)
		}
	}
	return err
}

// left checks the end of a rank's barrier.
func (r *simRank) left(err error) error {
	w, b := r.w, [2]int{r.gen, r.number}
	w.note("%d leaves %v: %v", r.id, b, err)
	switch {
	case err == nil && w.come[b] < len(w.ranks):
		return fmt.Errorf("rank %d has left barrier %d of communicator %d, to which %d of %d ranks have come", r.id, r.number, r.gen, w.come[b], len(w.ranks))
	case err != nil && (!w.died || !errors.Is(err, fabric.ErrPeerDown)):
		return fmt.Errorf("rank %d, barrier %d of communicator %d: %w", r.id, r.number, r.gen, err)
	}
	return nil
}
