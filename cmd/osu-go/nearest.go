package main

import (
	"github.com/agnivade/levenshtein"
)

// nearest is the candidate with the least edit distance to name. There must be
// at least one.
func nearest(name string, candidates []string) string {
	best := candidates[0]
	for _, c := range candidates[1:] {
		if levenshtein.ComputeDistance(name, c) < levenshtein.ComputeDistance(name, best) {
			best = c
		}
	}
	return best
}
