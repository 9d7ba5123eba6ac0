package mpi

import (
	"fmt"
	"strings"
)

// Explain tells in words how this rank's operations go to each target, and why: by loads
// and stores, by Put and Get of the fabric, or in packets, which the library at the
// target serves; which way its locks are taken; and whether this rank serves others
// without calls. Elements of 16 bytes, and such as are not aligned, are those that no
// instruction changes at once. The text is for people; it is "" if w is nil or has been
// freed. Local.
func (w *Win) Explain() string {
	if w.gone() {
		return ""
	}
	var order []string
	at := map[string][]int{}
	for r := range w.c.size {
		way := w.core.Way(r)
		if at[way] == nil {
			order = append(order, way)
		}
		at[way] = append(at[way], r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %d ranks by %v, at rank %d:\n", w.called(), w.c.size, w.kind, w.c.rank)
	for _, way := range order {
		fmt.Fprintf(&b, "to %s: %s\n", ranksText(at[way]), way)
	}
	return b.String()
}

// ranksText is a list of ascending ranks in words: "ranks 0, 2 to 5".
func ranksText(ranks []int) string {
	var runs []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		if k > i {
			runs = append(runs, fmt.Sprintf("%d to %d", ranks[i], ranks[k]))
		} else {
			runs = append(runs, fmt.Sprint(ranks[i]))
		}
		i = k + 1
	}
	if len(ranks) == 1 {
		return "rank " + runs[0]
	}
	return "ranks " + strings.Join(runs, ", ")
}
