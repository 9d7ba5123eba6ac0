package diagnose

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
	"pgregory.net/rapid"
)

func all(ranks ...int) part   { return part{needs: ranks} }
func oneOf(ranks ...int) part { return part{needs: ranks, any: true} }
func free() part              { return part{} }

// waitall and waitany are goroutines that are blocked in such a call; one operation is
// either.
func waitall(parts ...part) blocked {
	b := blocked{need: len(parts)}
	for _, p := range parts {
		b.ops = append(b.ops, op{p})
	}
	return b
}

func waitany(parts ...part) blocked {
	b := waitall(parts...)
	b.need = 1
	return b
}

func TestOnlyKnotsAreDeadlocks(t *testing.T) {
	for name, c := range map[string]struct {
		nodes map[int]node
		stuck []int
		knots [][]int
	}{
		"nobody waits":                           {map[int]node{0: {}, 1: {}}, nil, nil},
		"two wait for each other":                {map[int]node{0: {waitall(all(1))}, 1: {waitall(all(0))}}, []int{0, 1}, [][]int{{0, 1}}},
		"a third one waits for them":             {map[int]node{0: {waitall(all(1))}, 1: {waitall(all(0))}, 2: {waitall(all(1))}}, []int{0, 1, 2}, [][]int{{0, 1}}},
		"two rings":                              {map[int]node{0: {waitall(all(1))}, 1: {waitall(all(0))}, 2: {waitall(all(3))}, 3: {waitall(all(2))}}, []int{0, 1, 2, 3}, [][]int{{0, 1}, {2, 3}}},
		"the end of a chain computes":            {map[int]node{0: {waitall(all(1))}, 1: {waitall(all(2))}, 2: {}}, nil, nil},
		"the end of a chain has not replied":     {map[int]node{0: {waitall(all(1))}, 1: {waitall(all(2))}}, nil, nil},
		"a cycle through any source, one free":   {map[int]node{0: {waitall(oneOf(1, 2))}, 1: {waitall(all(0))}, 2: {}}, nil, nil},
		"any source, and all others are stuck":   {map[int]node{0: {waitall(oneOf(1, 2))}, 1: {waitall(all(0))}, 2: {waitall(all(1))}}, []int{0, 1, 2}, [][]int{{0, 1, 2}}},
		"all receive from any":                   {map[int]node{0: {waitall(oneOf(1, 2))}, 1: {waitall(oneOf(0, 2))}, 2: {waitall(oneOf(0, 1))}}, []int{0, 1, 2}, [][]int{{0, 1, 2}}},
		"one of several suffices":                {map[int]node{0: {waitany(all(1), free())}, 1: {waitall(all(0))}}, nil, nil},
		"none of several can":                    {map[int]node{0: {waitany(all(1), oneOf(1))}, 1: {waitall(all(0))}}, []int{0, 1}, [][]int{{0, 1}}},
		"all of several, of which one can":       {map[int]node{0: {waitall(all(1), free())}, 1: {waitall(all(0))}}, []int{0, 1}, [][]int{{0, 1}}},
		"another goroutine can go on":            {map[int]node{0: {waitall(all(1)), waitall(free())}, 1: {waitall(all(0))}}, nil, nil},
		"another goroutine is held too":          {map[int]node{0: {waitall(all(1)), waitall(all(2))}, 1: {waitall(all(0))}, 2: {waitall(all(1))}}, []int{0, 1, 2}, [][]int{{0, 1, 2}}},
		"a rank waits for itself":                {map[int]node{0: {waitall(all(0))}}, []int{0}, [][]int{{0}}},
		"two of three needed, two held":          {map[int]node{0: {{need: 2, ops: []op{{all(1)}, {all(1)}, {free()}}}}, 1: {waitall(all(0))}}, []int{0, 1}, [][]int{{0, 1}}},
		"two of three needed, one held":          {map[int]node{0: {{need: 2, ops: []op{{all(1)}, {free()}, {free()}}}}, 1: {waitall(all(0))}}, nil, nil},
		"both halves of one operation, one held": {map[int]node{0: {{need: 1, ops: []op{{free(), all(1)}}}}, 1: {waitall(all(0))}}, []int{0, 1}, [][]int{{0, 1}}},
	} {
		in := stuck(c.nodes)
		if got := slices.Sorted(maps.Keys(in)); !slices.Equal(got, c.stuck) || !reflect.DeepEqual(knots(c.nodes, in), c.knots) {
			t.Errorf("%s: stuck are %v, knots %v", name, got, knots(c.nodes, in))
		}
	}
}

// Stuck ranks are those of any set that is closed: no member can go on before another
// member does. The check tries all sets. Knots are closed, have no rank in common, and
// each stuck rank is in one or waits for one.
func TestStuckRanksAreThoseOfClosedSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "ranks")
		nodes := map[int]node{}
		for r := range n {
			for range rapid.SampledFrom([]int{0, 1, 1, 1, 2}).Draw(t, "goroutines") {
				b := blocked{}
				for range rapid.IntRange(1, 3).Draw(t, "operations") {
					o := op{}
					for range rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "parts") {
						needs := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID[int]).Draw(t, "needs")
						o = append(o, part{needs: needs, any: rapid.Bool().Draw(t, "any")})
					}
					b.ops = append(b.ops, o)
				}
				b.need = rapid.IntRange(1, len(b.ops)).Draw(t, "need")
				nodes[r] = append(nodes[r], b)
			}
			if _, ok := nodes[r]; !ok {
				nodes[r] = node{}
			}
		}
		union := map[int]bool{}
		for bits := 1; bits < 1<<n; bits++ {
			set := map[int]bool{}
			for r := range n {
				if bits>>r&1 != 0 {
					set[r] = true
				}
			}
			if isClosed(nodes, set) {
				maps.Copy(union, set)
			}
		}
		in := stuck(nodes)
		if fmt.Sprint(in) != fmt.Sprint(union) {
			t.Fatalf("stuck are %v, want %v", in, union)
		}
		for _, k := range knots(nodes, in) {
			set := map[int]bool{}
			for _, r := range k {
				set[r] = true
			}
			if !isClosed(nodes, set) {
				t.Fatalf("the knot %v waits for others", k)
			}
		}
		// Whoever is stuck is in a knot or reaches one.
		found := map[int]bool{}
		for _, k := range knots(nodes, in) {
			for _, r := range k {
				if found[r] {
					t.Fatalf("rank %d is in two knots", r)
				}
				found[r] = true
			}
		}
		for changed := true; changed; {
			changed = false
			for r := range in {
				if !found[r] && slices.ContainsFunc(nodes[r].waitsFor(in), func(to int) bool { return found[to] }) {
					found[r], changed = true, true
				}
			}
		}
		if len(found) != len(in) {
			t.Fatalf("of %v only %v are in a knot or wait for one", in, found)
		}
	})
}

// isClosed is the definition, without the code under test.
func isClosed(nodes map[int]node, set map[int]bool) bool {
	for r := range set {
		if len(nodes[r]) == 0 {
			return false
		}
		for _, b := range nodes[r] {
			completes := 0
			for _, o := range b.ops {
				ok := true
				for _, p := range o {
					inside := 0
					for _, x := range p.needs {
						if set[x] {
							inside++
						}
					}
					switch {
					case len(p.needs) == 0:
					case p.any && inside == len(p.needs), !p.any && inside > 0:
						ok = false
					}
				}
				if ok {
					completes++
				}
			}
			if completes >= b.need {
				return false
			}
		}
	}
	return true
}
