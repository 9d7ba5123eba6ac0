package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// bufTrials calls f with trials of random types: short ones, and long ones, which are
// packed as they go.
func bufTrials(t *testing.T, c *mpi.Comm, group, others []int, inPlace bool, f func(x *bufTrial)) {
	for seed := range 16 {
		x := &bufTrial{c: c, seed: seed, group: group, others: others, me: group[c.Rank()], base: drawUnit(seed)}
		switch {
		case seed%8 == 7 && len(group)+len(others) > 6:
			continue
		case seed%8 == 7:
			x.n = 70_000/x.unit() + 1
		case seed%8 > 0:
			x.n = seed % 4
		}
		for _, x.form = range forms {
			if x.inPlace && (!inPlace || seed%2 == 0) {
				continue
			}
			f(x)
		}
	}
}

// Each call moves what the model says between Bufs of random types, another one at each
// rank, and touches nothing else.
func TestCollectivesOnBufsGiveWhatTheModelGives(t *testing.T) {
	withTypesToo(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, p := range []int{1, 2, 3, 5} {
			if testing.Short() && team == nil && p%3 == 2 { // 1, 3
				continue
			}
			t.Run(fmt.Sprint(p), func(t *testing.T) {
				act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
					var all []int
					for r := range p {
						all = append(all, r)
					}
					bufTrials(t, c, all, all, true, func(x *bufTrial) {
						x.moves()
						for root := range p {
							if x.n < 100 || root == p-1 {
								x.rooted(root, root, root == x.me, true, all)
							}
						}
					})
				}, opts...)
			})
		}
	})
}

// So they do between two groups.
func TestCollectivesOnBufsBetweenGroups(t *testing.T) {
	trials := func(s half) {
		var groups [2][]int
		for side := range groups {
			for r := range s.worlds[side] {
				groups[side] = append(groups[side], numbers*side+r)
			}
		}
		bufTrials(nil, s.x, groups[s.at], groups[1-s.at], false, func(x *bufTrial) {
			x.moves()
			for side := range groups {
				for r, lead := range groups[side] {
					root := mpi.ProcNull
					switch {
					case side != s.at:
						root = r
					case lead == x.me:
						root = mpi.Root
					}
					if x.n < 100 || r == 0 {
						x.rooted(lead, root, root == mpi.Root, side != s.at, groups[1-side])
					}
				}
			}
		})
	}
	onBoth(t, trials)
	if p := (pair{3, 2}); team == nil {
		t.Run("types", func(t *testing.T) {
			act(t, "mem", p.a+p.b, func(w *mpi.World, c *mpi.Comm) { trials(p.connect(w, c)) }, mpi.WithTypeChecks())
		})
	}
}
