package partitioned

import (
	"bytes"
	"flag"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/wire"
)

var (
	modelSeeds = flag.Int("seeds", 1500, "seeds that TestModel runs")
	modelSeed  = flag.Uint64("seed", 0, "the one seed that TestModel replays, with its whole trace")
	modelFrom  = flag.Uint64("from", 1, "first seed of TestModel")
	modelSoak  = flag.Duration("soak", 0, "how long TestModel goes on with new seeds")
)

// Partitioned operations of random jobs over random networks do what a bitmap for
// each round says. A failing seed is replayed by
// `go test ./partitioned -run TestModel -seed S -v`.
func TestModel(t *testing.T) {
	if *modelSeed != 0 {
		w := newModelWorld(t, *modelSeed, true)
		err := w.run()
		t.Logf("%s", w.trace)
		if err != nil {
			t.Fatalf("seed %d: %v", *modelSeed, err)
		}
		return
	}
	n := uint64(*modelSeeds)
	if testing.Short() {
		n = min(n, 800)
	}
	var all modelCounts
	last, start := *modelFrom, time.Now()
	for ; last < *modelFrom+n || time.Since(start) < *modelSoak; last++ {
		w := newModelWorld(t, last, false)
		if err := w.run(); err != nil {
			again := newModelWorld(t, last, true)
			if second := again.run(); second == nil || second.Error() != err.Error() {
				t.Errorf("the replay is another: %v", second)
			}
			t.Fatalf("%s\nseed %d: %v\nreplay: go test ./partitioned -run TestModel -seed %d -v", tail(again.trace, 100), last, err, last)
		}
		all.add(&w.modelCounts)
	}
	took := time.Since(start)
	t.Logf("%d seeds in %v, %.0f a second; %d rounds, %d blocks read, %d written", last-*modelFrom, took.Round(time.Millisecond),
		float64(last-*modelFrom)/took.Seconds(), all.rounds, all.reads, all.writes)
	if n >= 800 {
		all.complete(t)
	}
}

// modelCounts is what a run has met.
type modelCounts struct {
	rounds, reads, writes, meantimes, early, sizes, freed, abandoned, deaths, unread int
	packs, unpacks                                                                   int
	seen                                                                             [256]int // packets by kind
}

func (c *modelCounts) add(o *modelCounts) {
	c.rounds, c.reads, c.writes, c.meantimes, c.early = c.rounds+o.rounds, c.reads+o.reads, c.writes+o.writes, c.meantimes+o.meantimes, c.early+o.early
	c.sizes, c.freed, c.abandoned, c.deaths, c.unread = c.sizes+o.sizes, c.freed+o.freed, c.abandoned+o.abandoned, c.deaths+o.deaths, c.unread+o.unread
	c.packs, c.unpacks = c.packs+o.packs, c.unpacks+o.unpacks
	for i := range c.seen {
		c.seen[i] += o.seen[i]
	}
}

// complete fails t if the runs have left something out.
func (c *modelCounts) complete(t *testing.T) {
	for what, n := range map[string]int{"whole rounds": c.rounds, "reads": c.reads, "writes": c.writes, "steps amid others": c.meantimes,
		"partitions before the last": c.early, "sides of different sizes": c.sizes, "sides whose peer was freed": c.freed,
		"abandoned sides": c.abandoned, "sides whose peer has died": c.deaths, "reads that fail": c.unread,
		"partitions that are packed": c.packs, "pieces that are unpacked": c.unpacks} {
		if n < 20 {
			t.Errorf("%s: %d", what, n)
		}
	}
	for kind := range modelKinds {
		if c.seen[kind] < 20 {
			t.Errorf("%s has been sent %d times", modelKinds[kind], c.seen[kind])
		}
	}
	if len(modelKinds) != int(wire.PStill&^wire.Urgent-wire.PInit&^wire.Urgent)+1 {
		t.Errorf("there are kinds besides %v", modelKinds)
	}
}

func TestASeedOfTheModelGivesTheSameTraceAgain(t *testing.T) {
	for seed := uint64(1); seed <= 40; seed++ {
		a, b := newModelWorld(t, seed, true), newModelWorld(t, seed, true)
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

// A death at any step ends what needs the dead.
func TestADeathAtAnyStepEndsWhatNeedsTheDead(t *testing.T) {
	for seed := uint64(1); seed <= 12; seed++ {
		whole := newModelWorld(t, seed, false)
		whole.die = never
		if err := whole.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for at := range whole.steps {
			if testing.Short() && at%5 != 0 {
				continue
			}
			w := newModelWorld(t, seed, false)
			w.die = at
			if err := w.run(); err != nil {
				t.Fatalf("seed %d, death at step %d: %v", seed, at, err)
			}
		}
	}
}

// tail returns the last lines of a trace.
func tail(trace []byte, n int) []byte {
	at := len(trace)
	for ; n >= 0 && at > 0; n-- {
		at = bytes.LastIndexByte(trace[:at], '\n')
	}
	return trace[max(at, 0):]
}
