package comm

import (
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/coll"
)

// PlanKey is all that the plan of a call depends on whose blocks are equally long,
// besides the communicator.
type PlanKey struct {
	Call              coll.Call
	Commutes, InPlace bool
	Gaps              coll.Gaps
	Elem              int // bytes of an element
	Root, Count       int // see coll.Shape
	RecvCount         int // the same
}

// plans are the plans of the last calls. Most programs make the same few calls again
// and again; to find a plan costs a tenth of making one, and no memory. The places
// where a plan may be follow from its key. If all have another one, one of those goes.
// So there are at most planPlaces plans. None has more than maxKeptSteps steps, and
// together they take less than 200 KB of a communicator that has made calls of all
// kinds. The longer plans of many ranks are made each time: there the messages take far
// longer than that.
//
// The v-forms' plans are not kept. A key would have all counts and displacements.
type plans struct {
	places [planPlaces]atomic.Pointer[kept]
	turn   atomic.Uint32 // which one goes; pairs with itself
}

const (
	planPlaces   = 1 << planBits
	planBits     = 4
	planTries    = 4 // places of a plan
	maxKeptSteps = 128
)

// kept is a plan with its key. It does not change.
type kept struct {
	key  PlanKey
	plan coll.Plan
}

// Plan returns this rank's plan of a call whose blocks are equally long. The plan is
// not to be changed. It is safe for concurrent use. Local.
func (c *Comm) Plan(k *PlanKey) *coll.Plan {
	known := c.plans.Load() // pairs with the swap below
	h := (uint64(k.Count)*31 + uint64(k.Root)*7 + uint64(k.Call)) * 0x9e3779b97f4a7c15 >> (64 - planBits)
	for try := uint64(0); known != nil && try < planTries; try++ {
		if found := known.places[(h+try)%planPlaces].Load(); found != nil && found.key == *k { // pairs with the swap and the store in keep
			return &found.plan
		}
	}
	s := coll.Shape{Rank: c.Rank, Size: c.Size, Remote: max(c.Remote.Len(), 0), Root: k.Root, Count: k.Count, RecvCount: k.RecvCount,
		Bytes: k.Elem, Commutes: k.Commutes, InPlace: k.InPlace, Gaps: k.Gaps, Near: c.Near}
	made := &kept{*k, coll.Make(k.Call, &s)}
	if len(made.plan.Steps) <= maxKeptSteps {
		if known == nil {
			c.plans.CompareAndSwap(nil, new(plans)) // pairs with the loads
			known = c.plans.Load()
		}
		known.keep(h, made)
	}
	return &made.plan
}

// keep puts a plan into one of its places.
func (p *plans) keep(h uint64, made *kept) {
	for try := range uint64(planTries) {
		if p.places[(h+try)%planPlaces].CompareAndSwap(nil, made) { // pairs with the load in Plan
			return
		}
	}
	h += uint64(p.turn.Add(1)) % planTries
	p.places[h%planPlaces].Store(made) // pairs with the load in Plan
}
