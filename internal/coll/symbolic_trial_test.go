package coll

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A trial is one run of a call: its arguments at all ranks.
type trial struct {
	call     Call
	alg      *Algorithm
	sizes    [2]int // of the groups; 0: there is no second one
	root     int    // of all ranks
	count    int    // of elements; the v-forms have up to so many
	inPlace  int    // at none, all, or some of the ranks
	commutes bool
	gaps     bool // in the memory of most ranks
}

const (
	nowhere = iota
	everywhere
	somewhere
)

func (c trial) String() string {
	return fmt.Sprintf("%v by %s of %v ranks, root %d, count %d, in place %d, commutes %v, gaps %v",
		c.call, c.alg.Name, c.sizes, c.root, c.count, c.inPlace, c.commutes, c.gaps)
}

// A want is what a cell of Out has to hold in the end: what it held before, or the
// reduction of an element of the ranks [lo,hi), or anything.
type want struct {
	kind    wanted
	lo, hi  uint16
	element int32
}

type wanted uint8

const (
	same wanted = iota
	reduced
	anything
)

// A place is a rank of a trial.
type place struct {
	shape   *Shape
	in, out []term
	want    []want // of out
	i       int    // among all ranks
	group   int
	base    int // of the group whose input this rank gets: rank 0 among all
	sources int // ranks of that group
}

// places are the ranks of a trial, without memory.
func (c trial) places() []*place {
	var all []*place
	for g, n := range c.sizes {
		for r := range n {
			p := &place{i: len(all), group: g, base: 0, sources: n}
			p.shape = &Shape{Rank: r, Size: n, Remote: c.sizes[1-g], Count: c.count, Bytes: 8, Commutes: c.commutes}
			if c.sizes[1] > 0 {
				p.base, p.sources = (1-g)*c.sizes[0], c.sizes[1-g]
			}
			rooted := c.root
			if c.root >= c.sizes[0] {
				rooted -= c.sizes[0]
			}
			p.shape.Root = rooted
			if c.sizes[1] > 0 && c.atRoot(g) {
				p.shape.Root = RootFellow
				if p.i == c.root {
					p.shape.Root = RootHere
				}
			}
			p.shape.InPlace = c.inPlace == everywhere || c.inPlace == somewhere && p.i%3 == 1
			if c.call.oneIn() || c.call.oneOut() {
				p.shape.InPlace = p.shape.InPlace && p.i == c.root
			}
			all = append(all, p)
		}
	}
	return all
}

// atRoot reports whether a group is the root's.
func (c trial) atRoot(group int) bool { return c.root >= c.sizes[0] == (group == 1) }

// oneIn and oneOut tell the calls in which one rank has the input, or the result.
func (c Call) oneIn() bool { return c == Bcast || c == Scatter || c == Scatterv }

func (c Call) oneOut() bool { return c == Gather || c == Gatherv || c == Reduce }

func (c Call) reduces() bool { return c >= Reduce && c <= Exscan || c == ReduceScatter }

func (c Call) varies() bool {
	return c == Gatherv || c == Scatterv || c == Allgatherv || c == Alltoallv || c == Alltoallw
}

// length is that of the block of a rank, or of one from rank i to rank j.
func (c trial) length(i, j int) int {
	switch {
	case !c.call.varies():
		if c.sizes[1] > 0 && i >= c.sizes[0] && (c.call == Allgather || c.call == Alltoall) {
			return max(0, c.count-1) // the groups' blocks need not be equally long
		}
		return c.count
	case c.inPlace != nowhere:
		return (i*j + 5*i + 5*j) % (c.count + 1) // from j to i too
	}
	return (5*i + 3*j) % (c.count + 1)
}

// layout places blocks: side by side, or, in a v-form, in another order and with
// gaps between them.
func (c trial) layout(counts []int) (displs []int, end int) {
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	if c.call.varies() {
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hash(a), hash(b)) })
	}
	displs = make([]int, len(counts))
	for _, i := range order {
		if c.call.varies() {
			end++
		}
		displs[i] = end
		end += counts[i]
	}
	return displs, end
}

// blank is memory without values.
func blank(n int) []term {
	m := make([]term, n)
	for i := range m {
		m[i] = undefined
	}
	return m
}

// fill has memory hold a rank's elements.
func fill(m []term, t *terms, rank, element int) {
	for i := range m {
		m[i] = t.leaf(rank, element+i)
	}
}

// expect wants elements of one rank, or of the ranks [lo,hi) reduced.
func expect(w []want, lo, hi, element int) {
	for i := range w {
		w[i] = want{reduced, uint16(lo), uint16(hi), int32(element + i)}
	}
}

// run carries the trial out and checks the result.
func (c trial) run() error {
	all := c.places()
	most := 1
	for _, p := range all {
		most = max(most, c.prepare(p, nil))
	}
	t := newTerms(len(all), most)
	shapes := make([]*Shape, len(all))
	for i, p := range all {
		c.prepare(p, t)
		shapes[i] = p.shape
	}
	m := newMachine(shapes, c.sizes[0], t)
	for i, p := range all {
		if !c.alg.Fits(p.shape) {
			return fmt.Errorf("it fits rank 0, but not rank %d", i)
		}
		r := m.ranks[i]
		r.plan = c.alg.Plan(p.shape)
		if c.gaps {
			most := 0
			if r.gaps, most = c.gapsOf(i); r.gaps != 0 {
				r.plan = r.plan.withGaps(r.gaps, most)
			}
		}
		r.mem = [4][]term{In: p.in, Out: p.out, Temp: blank(r.plan.Temp)}
		if r.signals = c.call == Barrier; !r.signals && c.count == 0 && len(r.plan.Steps) > 0 {
			return fmt.Errorf("rank %d does something though there are no elements: %v", i, r.plan.Steps)
		}
		p.out = slices.Clone(p.out)
	}
	if err := m.run(); err != nil {
		return err
	}
	return c.check(m, all)
}

// gapsOf is which memory of a rank has gaps, and what counts as short there. All
// combinations come at all ranks, for one root and count or another.
func (c trial) gapsOf(i int) (g Gaps, most int) {
	x := i + c.root + c.count
	if x/4%2 == 1 {
		most = math.MaxInt
	}
	return Gaps(3 - x%4), most
}

func (c trial) check(m *machine, all []*place) error {
	for i, p := range all {
		out := m.ranks[i].mem[Out]
		for k, w := range p.want {
			switch w.kind {
			case same:
				if out[k] != p.out[k] {
					return fmt.Errorf("rank %d, element %d of Out: it is not the call's", i, k)
				}
			case reduced:
				if err := m.terms.check(out[k], int(w.element), int(w.lo), int(w.hi), c.commutes); err != nil {
					return fmt.Errorf("rank %d, element %d of Out: %w", i, k, err)
				}
				if peer := c.sizes[0] * p.group; c.call == Allreduce && m.ranks[peer].mem[Out][k] != out[k] {
					return fmt.Errorf("rank %d has %s, rank %d has %s", i, m.terms.text(out[k]), peer, m.terms.text(m.ranks[peer].mem[Out][k]))
				}
			}
		}
		for k := range p.sources {
			if c.call == Barrier && m.ranks[i].heard[(p.base+k)/64]>>((p.base+k)%64)&1 == 0 {
				return fmt.Errorf("rank %d leaves the barrier without rank %d", i, p.base+k)
			}
		}
	}
	return nil
}
