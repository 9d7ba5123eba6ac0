package pt2pt

import (
	"math/rand/v2"
	"testing"
)

// Contexts that come late: a rank uses one only once it has made the communicator,
// which each rank does at another step. Messages of others come before, for a
// context that their receiver does not know yet, and have to be matched in order
// when it does.

// firstLate is the first context that comes late; two apart, as all.
const firstLate = 100

// drawLate draws when each rank makes which context, in one plan of four. It has a
// generator of its own, so that the other plans stay as they are.
func (p *simPlan) drawLate(rng *rand.Rand) {
	if rng.IntN(4) > 0 {
		return
	}
	for range p.nets[0].Size {
		var at []int
		for range p.cids {
			at = append(at, rng.IntN(2)*rng.IntN(p.steps)) // half of them know it from the first step on
		}
		p.born = append(p.born, at)
	}
}

// knows reports whether a rank has made a context.
func (w *simWorld) knows(rank int, cid uint32) bool {
	return cid < firstLate || w.born == nil || w.born[rank][(cid-firstLate)/2] <= w.step
}

// drawLate returns, now and then, a context that has come late, else cid.
func (r *simRank) drawLate(cid uint32) uint32 {
	w := r.w
	if w.born == nil || w.own.IntN(4) == 0 {
		return cid
	}
	if late := firstLate + 2*uint32(w.own.IntN(len(w.born[r.id]))); w.knows(r.id, late) {
		return late
	}
	return cid
}

// The simulation sends to ranks that don't know the context yet.
func TestMessagesOfTheSimulationComeBeforeTheirContext(t *testing.T) {
	early := 0
	for seed := uint64(1); seed <= 200; seed++ {
		w, p := drawWorld(seed)
		if err := w.run(p); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		early += w.early
	}
	if early < 10 {
		t.Errorf("%d messages have come before their context", early)
	}
}
