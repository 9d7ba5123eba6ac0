package diagnose

import (
	"fmt"
	"slices"
)

// Job is what the ranks of a job have replied.
type Job struct {
	Ranks  []Rank   // by rank
	Silent []Silent // those that have not replied
}

// Silent is a rank that has not replied.
type Silent struct {
	Rank int    `json:"rank"`
	Why  string `json:"why"` // "no reply, its process 12 is stopped"
}

// most bounds the sentences.
const most = 60

// Sentences says what keeps the ranks from going on. The causes come first: silent ranks,
// calls that do not match, locks, partitions; then deadlocks.
func (j *Job) Sentences() (words []string) {
	more := 0
	say := func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		switch {
		case slices.Contains(words, s):
		case len(words) == most:
			more++
		default:
			words = append(words, s)
		}
	}
	j.silent(say)
	g := j.graph()
	j.collectives(say, g)
	j.messages(say, g)
	j.locks(say)
	j.partitions(say)
	j.epochs(say)
	j.flushes(say)
	j.deadlocks(say, g)
	if more > 0 {
		words = append(words, fmt.Sprintf("and %d more sentences", more))
	}
	return words
}

// silent tells of the ranks that have not replied, those with one reason together.
func (j *Job) silent(say func(string, ...any)) {
	var order []string
	ranks := map[string][]int{}
	for _, s := range j.Silent {
		if ranks[s.Why] == nil {
			order = append(order, s.Why)
		}
		ranks[s.Why] = append(ranks[s.Why], s.Rank)
	}
	for _, why := range order {
		say("%s: %s", Ranks(ranks[why]), why)
	}
}

// rank is the state of a rank, or nil.
func (j *Job) rank(rank int) *Rank {
	i, ok := slices.BinarySearchFunc(j.Ranks, rank, func(r Rank, n int) int { return r.Rank - n })
	if !ok {
		return nil
	}
	return &j.Ranks[i]
}

// each visits all waits.
func (j *Job) each(f func(r *Rank, w *Wait)) {
	for i := range j.Ranks {
		for k := range j.Ranks[i].Waits {
			f(&j.Ranks[i], &j.Ranks[i].Waits[k])
		}
	}
}

// Add adds the state of a rank.
func (j *Job) Add(r Rank) {
	i, _ := slices.BinarySearchFunc(j.Ranks, r.Rank, func(r Rank, n int) int { return r.Rank - n })
	j.Ranks = slices.Insert(j.Ranks, i, r)
}

// Unknown lists the ranks that those of the job wait for and that have not been asked.
func (j *Job) Unknown() (ranks []int) {
	j.each(func(r *Rank, w *Wait) {
		if w.Goroutine == 0 {
			return
		}
		also := w.Peer
		if w.Kind == Lock {
			also = w.Target
		}
		for _, n := range append(slices.Clone(j.needs(r.Rank, w)), also) {
			if n >= 0 && j.rank(n) == nil && !slices.Contains(ranks, n) && !slices.ContainsFunc(j.Silent, func(s Silent) bool { return s.Rank == n }) {
				ranks = append(ranks, n)
			}
		}
	})
	return ranks
}

// Stuck reports whether ranks seem to wait for one another.
func (j *Job) Stuck() bool { return len(j.graph().stuck) > 0 }

// Lasting compares the states of ranks with those of an earlier question, to which all had
// replied before this one was asked, and returns this one without what operations need
// that have begun or moved in between. If the ranks have settled before the second reply,
// what is left has waited at the moment between the two questions.
func (j *Job) Lasting(before *Job) *Job {
	last := &Job{Silent: j.Silent}
	for _, r := range j.Ranks {
		old := before.rank(r.Rank)
		waits := slices.Clone(r.Waits)
		for i := range waits {
			w := &waits[i]
			same := old != nil && slices.ContainsFunc(old.Waits, func(o Wait) bool {
				return o.Op == w.Op && o.State == w.State && o.Goroutine > 0 == (w.Goroutine > 0)
			})
			if same {
				continue
			}
			w.Needs, w.Unmatched = nil, false
			if w.Kind == Lock {
				w.Target = AnyRank
			}
		}
		r.Waits = waits
		last.Ranks = append(last.Ranks, r)
	}
	return last
}

// graph is who waits for whom, and what comes of it.
type graph struct {
	nodes map[int]node
	stuck map[int]bool
	knots [][]int
	knot  map[int]int // of the ranks in one: which
}

func (j *Job) graph() *graph {
	g := &graph{nodes: map[int]node{}, knot: map[int]int{}}
	for i := range j.Ranks {
		g.nodes[j.Ranks[i].Rank] = j.node(&j.Ranks[i])
	}
	g.stuck = stuck(g.nodes)
	g.knots = knots(g.nodes, g.stuck)
	for i, k := range g.knots {
		for _, r := range k {
			g.knot[r] = i
		}
	}
	return g
}

// together reports whether two ranks are in one knot.
func (g *graph) together(a, b int) bool {
	i, in := g.knot[a]
	k, also := g.knot[b]
	return in && also && i == k
}

// node makes a node of a rank. A rank with callbacks may go on in one of them.
func (j *Job) node(r *Rank) node {
	if r.Callbacks > 0 {
		return node{}
	}
	n := make(node, len(r.Goroutines))
	groups := map[[2]uint64]int{}
	for i := range n {
		n[i].need = r.Goroutines[i].Need
	}
	for i := range r.Waits {
		w := &r.Waits[i]
		if w.Goroutine < 1 || w.Goroutine > len(n) {
			continue
		}
		b := &n[w.Goroutine-1]
		p := part{j.needs(r.Rank, w), w.Any}
		key := [2]uint64{uint64(w.Goroutine), w.Group}
		if k, ok := groups[key]; ok && w.Group != 0 {
			b.ops[k] = append(b.ops[k], p)
			continue
		}
		groups[key] = len(b.ops)
		b.ops = append(b.ops, op{p})
	}
	return n
}
