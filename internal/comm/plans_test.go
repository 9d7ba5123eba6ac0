package comm

import (
	"reflect"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/internal/coll"
)

// made is the plan of a key, not kept.
func made(c *Comm, k PlanKey) coll.Plan {
	return coll.Make(k.Call, &coll.Shape{Rank: c.Rank, Size: c.Size, Root: k.Root, Count: k.Count,
		Bytes: k.Elem, Commutes: k.Commutes, InPlace: k.InPlace})
}

// keys are more keys than there are places.
func keys(size int) (all []PlanKey) {
	for call := coll.Barrier; call <= coll.LastCall; call++ {
		switch call {
		case coll.Gatherv, coll.Scatterv, coll.Allgatherv, coll.Alltoallv:
			continue
		}
		for root := range size {
			for _, count := range []int{0, 1, 1000} {
				for _, commutes := range []bool{false, true} {
					all = append(all, PlanKey{Call: call, Root: root, Count: count, Elem: 8, Commutes: commutes})
				}
			}
		}
	}
	return all
}

func TestAPlanIsThatOfItsKeyWhoeverElseAsks(t *testing.T) {
	c := &Comm{Rank: 1, Size: 5}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			ks := keys(c.Size)
			for i := range ks {
				k := ks[(i*7+g*31)%len(ks)]
				if got, want := *c.Plan(&k), made(c, k); !reflect.DeepEqual(got, want) {
					t.Errorf("%+v: the plan is %+v, want %+v", k, got, want)
				}
			}
		})
	}
	all.Wait()
}

// As many calls as a plan has places are found again, wherever those are.
func TestAFewCallsAreMadeOnce(t *testing.T) {
	c := &Comm{Rank: 1, Size: 5}
	for _, k := range keys(c.Size)[:planTries] {
		first := c.Plan(&k)
		for range 3 {
			if c.Plan(&k) != first {
				t.Errorf("the plan of %+v is made again", k)
			}
		}
	}
}

func TestALongPlanIsNotKept(t *testing.T) {
	c := &Comm{Rank: 0, Size: 1000}
	k := PlanKey{Call: coll.Alltoall, Count: 1, Elem: 8}
	if n := len(c.Plan(&k).Steps); n <= maxKeptSteps {
		t.Fatalf("the plan has %d steps only", n)
	}
	if c.plans.Load() != nil {
		t.Error("there are places for it")
	}
}
