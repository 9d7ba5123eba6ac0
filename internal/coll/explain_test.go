package coll

import (
	"fmt"
	"strings"
	"testing"
)

// shapesOfAllKinds are such that every rule has some that it is for.
func shapesOfAllKinds() (all []*Shape) {
	for size := 1; size <= 9; size++ {
		for _, remote := range []int{0, 1, 3} {
			for _, count := range []int{1, 1 << 20} {
				for _, inPlace := range []bool{false, true} {
					if remote == 0 || !inPlace {
						all = append(all, &Shape{Size: size, Remote: remote, Count: count, Bytes: 8, InPlace: inPlace})
					}
				}
			}
		}
	}
	return all
}

func TestRulesSayWhatChooseDoes(t *testing.T) {
	told := map[Call][]Explained{}
	for _, e := range Rules() {
		if e.Why == "" {
			t.Errorf("%v by %s: no reason", e.Call, e.Algorithm)
		}
		told[e.Call] = append(told[e.Call], e)
	}
	for call := Barrier; call <= LastCall; call++ {
		names := Algorithms(call)
		if len(told[call]) != len(names) {
			t.Fatalf("%v has %d algorithms and %d are told", call, len(names), len(told[call]))
		}
		for i, e := range told[call] {
			r := rules[call][i]
			if e.Algorithm != names[i].Name {
				t.Errorf("%v: %s is told in the place of %s", call, e.Algorithm, names[i].Name)
			}
			fits, refused := 0, 0
			for _, s := range shapesOfAllKinds() {
				switch {
				case between(s) != e.Between:
					if r.Fits(s) {
						t.Errorf("%v by %s is for groups of another kind: %+v", call, e.Algorithm, s)
					}
				case r.Fits(s):
					fits++
				default:
					refused++
				}
			}
			if fits == 0 || refused > 0 != (reasons[r.Algorithm].only != "") {
				t.Errorf("%v by %s fits %d shapes and not %d, and says %q", call, e.Algorithm, fits, refused, e.When)
			}
			for words, bound := range map[string]int{"from %d ranks on": r.ranks, "up to %d bytes": r.bytes} {
				if has := strings.Contains(e.When, fmt.Sprintf(words, bound)); has != (bound > 0) {
					t.Errorf("%v by %s: the bound %d and %q", call, e.Algorithm, bound, e.When)
				}
			}
		}
	}
}

// What a reason says of ranks and places is so.
func TestShapesThatAnAlgorithmIsForAreThoseItTakes(t *testing.T) {
	for only, so := range map[string]func(*Shape) bool{
		"a power of two of ranks": func(s *Shape) bool { return s.Size == 1 || s.Size == 2 || s.Size == 4 || s.Size == 8 },
		"in place":                func(s *Shape) bool { return s.InPlace },
		"not in place":            func(s *Shape) bool { return !s.InPlace },
	} {
		n := 0
		for a, r := range reasons {
			if r.only != only {
				continue
			}
			n++
			for _, s := range shapesOfAllKinds() {
				if within(s) && a.Fits(s) != so(s) {
					t.Errorf("%s takes %+v: %t; it says %q", a.Name, s, a.Fits(s), only)
				}
			}
		}
		if n == 0 {
			t.Errorf("no algorithm is for %q", only)
		}
	}
}
