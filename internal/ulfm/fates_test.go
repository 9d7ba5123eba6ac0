package ulfm

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// fate is a rank and the step before which it dies.
type fate struct{ rank, step int }

// fated takes the random interleaving of a seed in which ranks die at set steps, and
// returns how many steps there were but the deaths.
func fated(size int, seed uint64, fates ...fate) (steps int, _ error) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	w := newWorld(size, 0, Set{})
	for ; ; steps++ {
		for _, f := range fates {
			if f.step == steps && !w.dead.Has(f.rank) {
				if err := w.take(step{'d', -1, f.rank}); err != nil {
					return steps, err
				}
			}
		}
		all := w.steps(nil)
		if len(all) == 0 {
			break
		}
		if err := w.take(all[rnd.IntN(len(all))]); err != nil {
			return steps, fmt.Errorf("%w:\n%s", err, w.past)
		}
	}
	if err := w.quiet(); err != nil {
		return steps, fmt.Errorf("%w:\n%s", err, w.past)
	}
	return steps, nil
}

// Of up to five ranks each one dies at each step of an interleaving, and then each two at
// each two steps.
func TestDeathsAtEveryStep(t *testing.T) {
	single, double := uint64(60), uint64(3)
	if testing.Short() {
		single, double = 6, 1
	}
	for size := 2; size <= 5; size++ {
		t.Run(fmt.Sprintf("%d ranks", size), func(t *testing.T) {
			runs := 0
			run := func(seed uint64, fates ...fate) int {
				steps, err := fated(size, seed, fates...)
				if err != nil {
					t.Fatalf("seed %d, deaths %v: %v", seed, fates, err)
				}
				runs++
				return steps
			}
			for seed := range single {
				for step := range run(seed) + 1 {
					for rank := range size {
						first := fate{rank, step}
						steps := run(seed, first)
						if seed >= double {
							continue
						}
						for later := step; later <= steps; later++ {
							for other := range size {
								if other != rank {
									run(seed, first, fate{other, later})
								}
							}
						}
					}
				}
			}
			t.Logf("%d runs", runs)
		})
	}
}
