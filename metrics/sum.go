package metrics

import (
	"maps"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/progress/counters"
)

// sum is one snapshot for all: the sum of each count, the greatest of each high-water
// mark.
func sum(all map[int]counters.Snapshot) (out counters.Snapshot) {
	families := map[string]int{}
	rows := map[string]int{} // of a family and its labels' values
	for _, rank := range slices.Sorted(maps.Keys(all)) {
		for _, f := range all[rank].Families {
			at, there := families[f.Name]
			if !there {
				at = len(out.Families)
				families[f.Name] = at
				whole := f
				whole.Rows = nil
				out.Families = append(out.Families, whole)
			}
			to := &out.Families[at]
			for _, r := range f.Rows {
				key := f.Name + "\x00" + strings.Join(r.Values, "\x00")
				if i, there := rows[key]; there {
					join(&to.Rows[i], &r, f.Gauge && strings.HasSuffix(f.Name, "_max"))
					continue
				}
				rows[key] = len(to.Rows)
				if r.Buckets != nil {
					own := *r.Buckets
					r.Buckets = &own
				}
				to.Rows = append(to.Rows, r)
			}
		}
	}
	return out
}

func join(to, r *counters.Row, greatest bool) {
	if greatest {
		to.Value = max(to.Value, r.Value)
		return
	}
	to.Value += r.Value
	if to.Buckets != nil && r.Buckets != nil {
		for i, n := range r.Buckets {
			to.Buckets[i] += n
		}
	}
}
