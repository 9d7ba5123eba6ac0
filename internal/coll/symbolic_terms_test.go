package coll

import "fmt"

// A term is what a cell of memory holds: an element of a rank's input, or a ⊕ of
// two terms. Equal numbers are equal expressions. Cells without a value hold
// undefined.
type term int32

const undefined term = -1

// terms has the expressions: first the leaves, a rank's elements side by side.
type terms struct {
	elements int // of each rank's input
	leaves   int
	nodes    []node
	known    map[uint64]term // a ⊕ b, by a and b
	sums     []uint64        // of the hashes of the ranks before each
}

// A node is a ⊕ b. All leaves are of one element.
type node struct {
	a, b    term
	element int32
	n       int32  // leaves
	lo, hi  int32  // leaves in order of ranks, from lo up to and without hi; else hi is 0
	sum     uint64 // of the hashes of the leaves' ranks, whatever their order
}

func newTerms(ranks, elements int) *terms {
	t := &terms{elements: elements, leaves: ranks * elements, known: map[uint64]term{}, sums: []uint64{0}}
	for i := range ranks {
		t.sums = append(t.sums, t.sums[i]+hash(i))
	}
	return t
}

func (t *terms) leaf(rank, element int) term { return term(rank*t.elements + element) }

func (t *terms) node(x term) node {
	if int(x) >= t.leaves {
		return t.nodes[int(x)-t.leaves]
	}
	rank := int32(int(x) / t.elements)
	return node{element: int32(int(x) % t.elements), n: 1, lo: rank, hi: rank + 1, sum: t.sums[rank+1] - t.sums[rank]}
}

// hash scatters the ranks, so that sums of different multisets of them differ.
func hash(rank int) uint64 {
	x := uint64(rank+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (t *terms) combine(a, b term) (sum term, err error) {
	both := uint64(a)<<32 | uint64(b)
	if x, ok := t.known[both]; ok {
		return x, nil
	}
	l, u := t.node(a), t.node(b)
	if l.element != u.element {
		return 0, fmt.Errorf("element %d is combined with element %d", l.element, u.element)
	}
	x := node{a: a, b: b, element: l.element, n: l.n + u.n, sum: l.sum + u.sum}
	if l.hi > 0 && l.hi == u.lo {
		x.lo, x.hi = l.lo, u.hi
	}
	sum = term(t.leaves + len(t.nodes))
	t.nodes = append(t.nodes, x)
	t.known[both] = sum
	return sum, nil
}

// check says what is wrong with x as the reduction of an element of the ranks from
// lo up to and without hi.
func (t *terms) check(x term, element, lo, hi int, commutes bool) error {
	if x == undefined {
		return fmt.Errorf("there is no result")
	}
	n := t.node(x)
	switch {
	case int(n.element) != element:
		return fmt.Errorf("%s is of element %d, want %d", t.text(x), n.element, element)
	case int(n.n) != hi-lo || n.sum != t.sums[hi]-t.sums[lo]:
		return fmt.Errorf("%s has not each of the ranks [%d,%d) once", t.text(x), lo, hi)
	case !commutes && (int(n.lo) != lo || int(n.hi) != hi):
		return fmt.Errorf("%s is not in the order of ranks", t.text(x))
	}
	return nil
}

// text is a term as a person writes it, without its element.
func (t *terms) text(x term) string {
	if x == undefined {
		return "undefined"
	}
	if int(x) < t.leaves {
		return fmt.Sprint(int(x) / t.elements)
	}
	n := t.node(x)
	return "(" + t.text(n.a) + "⊕" + t.text(n.b) + ")"
}
