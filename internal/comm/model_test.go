package comm

import (
	"bytes"
	"testing"
	"time"
)

// modelCounts is what runs have met.
type modelCounts struct {
	creations, meetings, connects, clashes, failures, collectives, messages, early, late, drops, freedAmid, deaths, left, cancelled, brokenComms, halfMade int
}

func (c *modelCounts) add(o *modelCounts) {
	for i, n := range o.all() {
		*c.all()[i] += *n
	}
}

func (c *modelCounts) all() []*int {
	return []*int{&c.creations, &c.meetings, &c.connects, &c.clashes, &c.failures, &c.collectives, &c.messages, &c.early, &c.late, &c.drops, &c.freedAmid,
		&c.deaths, &c.left, &c.cancelled, &c.brokenComms, &c.halfMade}
}

// complete fails t if the runs have left something out.
func (c *modelCounts) complete(t *testing.T) {
	for i, n := range c.all() {
		if *n == 0 {
			t.Errorf("the runs have nothing of count %d: %+v", i, *c)
		}
	}
}

// Random programs over communicators that overlap, with deaths, with contexts that
// end, and with messages for communicators that are not made yet or freed, give what
// MPI says. A failing seed is replayed by `go test ./internal/comm -run TestModel -seed S -v`.
func TestModel(t *testing.T) {
	if *simSeed != 0 {
		w := newModelWorld(*simSeed, true)
		err := w.run()
		t.Logf("%s", w.trace)
		if err != nil {
			t.Fatalf("seed %d: %v", *simSeed, err)
		}
		return
	}
	n := uint64(*simSeeds)
	if testing.Short() {
		n = min(n, 100)
	}
	var all modelCounts
	last, start := *simFrom, time.Now()
	for ; last < *simFrom+n || time.Since(start) < *simSoak; last++ {
		w := newModelWorld(last, false)
		if err := w.run(); err != nil {
			again := newModelWorld(last, true)
			if second := again.run(); second == nil || second.Error() != err.Error() {
				t.Errorf("the replay is another: %v", second)
			}
			t.Fatalf("%s\nseed %d: %v\nreplay: go test ./internal/comm -run TestModel -seed %d -v", again.trace[max(0, len(again.trace)-4000):], last, err, last)
		}
		all.add(&w.modelCounts)
	}
	took := time.Since(start)
	t.Logf("%d seeds in %v, %.0f a second; %+v", last-*simFrom, took.Round(time.Millisecond), float64(last-*simFrom)/took.Seconds(), all)
	if n >= 300 {
		all.complete(t)
	}
}

// A death at any step ends the calls of the others.
func TestADeathAtAnyStepOfTheModel(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		for at, steps := 0, 1; at < steps; at += 1 + at/40 {
			w := drawModelWorld(seed, false, true)
			w.dies, steps = []int{at}, w.steps
			if err := w.run(); err != nil {
				t.Fatalf("seed %d, death at step %d: %v", seed, at, err)
			}
		}
	}
}

func TestASeedOfTheModelGivesTheSameTraceAgain(t *testing.T) {
	for seed := uint64(1); seed <= 30; seed++ {
		a, b := newModelWorld(seed, true), newModelWorld(seed, true)
		for _, w := range []*modelWorld{a, b} {
			if err := w.run(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if len(a.trace) < 200 || !bytes.Equal(a.trace, b.trace) {
			t.Errorf("seed %d: the traces of %d and %d bytes differ, or are short", seed, len(a.trace), len(b.trace))
		}
	}
}
