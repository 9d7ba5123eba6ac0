package rma

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var (
	lockPlans = flag.Int("lockplans", 10, "programs that TestLockExplorer draws")
	lockFrom  = flag.Uint64("lockfrom", 1, "the seed of the first of them")
)

// lockSearch visits every state of a plan, depth first.
type lockSearch struct {
	seen  map[uint64]struct{}
	path  []lockMove
	spare []*lockWorld // states that are left
	moves int
	wrong string
}

func (s *lockSearch) visit(w *lockWorld) {
	moves, death := w.moves()
	if len(moves) == 0 || len(moves) == 1 && death {
		w.end()
	}
	if w.wrong != "" {
		s.wrong = fmt.Sprintf("%s\n%s", w.wrong, s.trace())
		return
	}
	k := w.key()
	if _, ok := s.seen[k]; ok {
		return
	}
	s.seen[k] = struct{}{}
	for _, m := range moves {
		count := s.make(w, m)
		for m.cut = 2; m.cut <= count && w.plan.meddle; m.cut++ {
			for m.other = range lockRoutines {
				if w.runs(m.other) && (m.what != 'o' || w.plan.rank[m.a] != w.plan.rank[m.other]) {
					s.make(w, m)
				}
			}
		}
		if s.wrong != "" {
			return
		}
	}
}

// make makes a step and goes on from there. It returns the accesses of the step.
func (s *lockSearch) make(w *lockWorld, m lockMove) (count int) {
	if s.wrong != "" {
		return 0
	}
	s.moves++
	next := &lockWorld{}
	if n := len(s.spare); n > 0 {
		next, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	w.copyTo(next)
	s.path = append(s.path, m)
	next.move(m)
	count = next.count
	s.visit(next)
	s.path = s.path[:len(s.path)-1]
	s.spare = append(s.spare, next)
	return count
}

func (s *lockSearch) trace() string {
	var b strings.Builder
	for _, m := range s.path {
		fmt.Fprintf(&b, "  %v\n", m)
	}
	return b.String()
}

// exploreLocks visits every state of a plan: each interleaving of the steps of its
// ranks, of the arrivals of their messages and knocks, and of a death.
func exploreLocks(t *testing.T, p lockPlan) (states, moves int) {
	t.Helper()
	s := &lockSearch{seen: map[uint64]struct{}{}}
	s.visit(newLockWorld(&p))
	if s.wrong != "" {
		t.Fatalf("programs %v\ndirect %v, rank %d may die: %s", p.programs, p.direct, p.mortal, s.wrong)
	}
	return len(s.seen), s.moves
}

// lockPrograms reads "s1 x2", locks one after another, or "s1+x2", both at a time, of
// each rank.
func lockPrograms(texts ...string) (all [lockRoutines][]lockCall) {
	for r, text := range texts {
		for _, group := range strings.Fields(text) {
			var unlocks []lockCall
			for _, one := range strings.Split(group, "+") {
				c := lockCall{kind: lockShared, target: lockEverywhere}
				if one != "all" {
					c.target = int(one[1] - '0')
				}
				if one[0] == 'x' {
					c.kind = lockExclusive
				}
				all[r] = append(all[r], c)
				c.unlock = true
				unlocks = append(unlocks, c)
			}
			all[r] = append(all[r], unlocks...)
		}
	}
	return all
}

// Rows in which ranks hold, wait and die in all the ways that there are.
func TestLocksInAllInterleavings(t *testing.T) {
	all := [lockRanks][lockRanks]bool{{true, true, true}, {true, true, true}, {true, true, true}}
	none := [lockRanks][lockRanks]bool{}
	for name, programs := range map[string][lockRoutines][]lockCall{
		"exclusive locks of one rank":               lockPrograms("x1 x1", "x1 x1", "x1 x1"),
		"shared ones pass no exclusive one":         lockPrograms("s1 s1", "x1", "s1 s1"),
		"exclusive ones and LockAll":                lockPrograms("all all", "x1 x2", "x2 x1"),
		"LockAll between two locks of one rank":     lockPrograms("all", "x1+x2", "s2 x1"),
		"LockAll and the word of its own owner":     lockPrograms("x0 all", "all x0", "s0 x0"),
		"a rank that holds a lock passes a waiter":  lockPrograms("x1", "s1+x2", "s2+s1"),
		"a rank that holds one passes a LockAll":    lockPrograms("all", "x1+s2", "s2+x0"),
		"a deadlock of the program is its own":      lockPrograms("all", "x1+x2", "x2+x1"),
		"two goroutines share the exclusive side":   lockPrograms("all", "", "x1", "x2"),
		"one that takes it is pressed":              lockPrograms("all", "x1+x2", "x1", "s2+x0"),
		"two goroutines, and the side is refused":   lockPrograms("all", "", "x1 s1", "x2+x0"),
		"a waiter that waits behind another of two": lockPrograms("x1 s1", "s1 x1", "x1 all"),
	} {
		for mortal, how := range []string{"direct", "packets", "mixed"} {
			direct := [...][lockRanks][lockRanks]bool{all, none, {0: all[0], 2: {1: true}}}[mortal]
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				states, moves := exploreLocks(t, lockPlan{rank: [lockRoutines]int{0, 1, 2, 2}, programs: programs, direct: direct, mortal: -1, meddle: true})
				if programs[1] != nil && programs[3] != nil {
					mortal = -1 // four goroutines have states enough
				}
				s, m := exploreLocks(t, lockPlan{rank: [lockRoutines]int{0, 1, 2, 2}, programs: programs, direct: direct, mortal: mortal})
				t.Logf("%d and %d states, %d and %d moves", states, s, moves, m)
			})
		}
	}
}

// Programs that are drawn: two locks of each rank, one after the other, both at a time
// or by two goroutines.
func TestLockModel(t *testing.T) {
	states, moves := 0, 0
	for seed := *lockFrom; seed < *lockFrom+uint64(*lockPlans); seed++ {
		rng := rand.New(rand.NewPCG(seed, 12))
		a, b := [...]string{"1", "0", "0"}[seed%3], [...]string{"2", "1", "2"}[seed%3]
		ops := []string{"s" + a, "s" + b, "x" + a, "x" + b, "all"}
		var texts []string
		for range lockRanks {
			i, between, j := rng.IntN(5), " ", rng.IntN(5)
			if i < 4 && j < 4 && (i+j)%2 == 1 && rng.IntN(2) == 0 {
				between = "+" // locks of two ranks
			}
			texts = append(texts, ops[i]+between+ops[j])
		}
		if seed%4 == 0 { // two goroutines of rank 2, each at a target of its own
			texts[2] = ops[2*rng.IntN(2)] + " " + ops[2*rng.IntN(2)]
			texts = append(texts, ops[2*rng.IntN(2)+1])
		}
		p := lockPlan{rank: [lockRoutines]int{0, 1, 2, 2}, programs: lockPrograms(texts...), mortal: rng.IntN(lockRanks+2) - 2}
		if p.mortal = max(p.mortal, -1); len(texts) > lockRanks {
			p.mortal = -1 // four goroutines have states enough
		}
		p.meddle = p.mortal < 0
		for r := range lockRanks {
			for o := range lockRanks {
				p.direct[r][o] = rng.IntN(2) == 0
			}
		}
		t.Run(fmt.Sprintf("%d %s", seed, strings.Join(texts, ", ")), func(t *testing.T) {
			s, m := exploreLocks(t, p)
			states, moves = states+s, moves+m
		})
	}
	t.Logf("%d states, %d moves", states, moves)
}
