package progress

import (
	"slices"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
	"pgregory.net/rapid"
)

// A List does what a slice does.
func TestAListKeepsItsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q List
		var want []*Request
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			if len(want) == 0 || rapid.Bool().Draw(t, "add") {
				r := &Request{}
				q.Add(r)
				want = append(want, r)
			} else {
				i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				q.Remove(want[i])
				if want[i].Link != nil || want[i].Back != nil {
					t.Fatal("a request that was removed is linked still")
				}
				want = slices.Delete(want, i, i+1)
			}
			var got []*Request
			for r := q.First(); r != nil; r = r.Link {
				got = append(got, r)
			}
			if !slices.Equal(got, want) || q.Empty() != (len(want) == 0) {
				t.Fatalf("%d requests in the list, want %d", len(got), len(want))
			}
		}
	})
}
