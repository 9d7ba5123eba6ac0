package datatype

// MaxDepth is how deep a typemap may be nested, after what needs no nesting has
// been taken out.
const MaxDepth = 256

type nodeOp uint8

const (
	opRun  nodeOp = iota + 1 // n elements of a kind, one after another
	opRep                    // the child n times, stride bytes apart
	opRuns                   // runs of one kind at displacements
	opSeq                    // children at displacements
)

// node is a part of a typemap: a tree whose leaves are runs of elements. A node
// does not change once it is made, belongs to any number of parents, and has at
// least one element. Its displacements count from an origin at which its first
// element lies.
type node struct {
	op     nodeOp
	kind   Kind    // of opRun, opRuns
	n      int     // of opRun: elements; of opRep: times
	stride int     // of opRep
	child  *node   // of opRep
	disps  []int   // of opRuns, opSeq
	lens   []int   // of opRuns: the elements of each run; one number if all are equal
	kids   []*node // of opSeq; one if all are the same
	ends   []int   // of opRuns and opSeq: packed bytes up to the end of each part; nil if all have the same size

	size   int  // bytes of data
	lo, hi int  // bytes touched, from the origin
	elems  int  // basic elements
	align  int  // the largest of any element
	sole   Kind // of all elements, or 0
	depth  int
	sig    sum
}

// place is a node at a displacement; without a node it is empty.
type place struct {
	at int
	*node
}

// part is the i-th child of an opSeq.
func (n *node) part(i int) *node {
	if len(n.kids) == 1 {
		return n.kids[0]
	}
	return n.kids[i]
}

// runLen is the number of elements of the i-th run of an opRuns.
func (n *node) runLen(i int) int {
	if len(n.lens) == 1 {
		return n.lens[0]
	}
	return n.lens[i]
}

// start is the packed offset of the i-th part of an opRuns or opSeq.
func (n *node) start(i int) int {
	if n.ends == nil {
		return i * (n.size / len(n.disps))
	}
	if i == 0 {
		return 0
	}
	return n.ends[i-1]
}

// find is the part of an opRuns or opSeq in which a packed offset lies.
func (n *node) find(at int) int {
	if n.ends == nil {
		return at / (n.size / len(n.disps))
	}
	return after(n.ends, at)
}

// after is the first item of a sorted list that is above at.
func after(list []int, at int) int {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if list[mid] > at {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// finish derives what follows from a node's own fields and from its children.
func (k *checked) finish(n *node) {
	switch n.op {
	case opRun:
		k.leaf(n, n.n)
		n.hi = k.runBytes(n.kind, n.n)
	case opRep:
		c := n.child
		n.size, n.elems = k.mul(n.n, c.size), k.mul(n.n, c.elems)
		n.align, n.sole, n.depth = c.align, c.sole, c.depth+1
		n.sig = c.sig.times(n.n)
		last := k.mul(n.n-1, n.stride)
		n.lo, n.hi = k.add(min(0, last), c.lo), k.add(max(0, last), c.hi)
	case opRuns:
		total := k.mul(n.lens[0], len(n.disps))
		if len(n.lens) > 1 {
			total = 0
			n.ends = make([]int, len(n.lens))
			for i, l := range n.lens {
				total = k.add(total, l)
				n.ends[i] = k.mul(total, traits[n.kind].size)
			}
		}
		k.leaf(n, total)
		for i, d := range n.disps {
			n.lo, n.hi = min(n.lo, d), max(n.hi, k.add(d, k.runBytes(n.kind, n.runLen(i))))
		}
	case opSeq:
		k.finishSeq(n)
	}
	k.sub(n.hi, n.lo)
	k.deep = k.deep || n.depth > MaxDepth
}

func (k *checked) finishSeq(n *node) {
	first := n.kids[0]
	n.align, n.sole = first.align, first.sole
	if len(n.kids) == 1 {
		count := len(n.disps)
		n.size, n.elems, n.depth = k.mul(count, first.size), k.mul(count, first.elems), first.depth
		n.sig = first.sig.times(count)
	} else {
		n.ends = make([]int, len(n.kids))
		for i, c := range n.kids {
			n.size, n.elems = k.add(n.size, c.size), k.add(n.elems, c.elems)
			n.ends[i] = n.size
			n.align, n.depth = max(n.align, c.align), max(n.depth, c.depth)
			n.sig = n.sig.concat(c.sig)
			if c.sole != n.sole {
				n.sole = 0
			}
		}
	}
	n.depth++
	for i, d := range n.disps {
		c := n.part(i)
		n.lo, n.hi = min(n.lo, k.add(d, c.lo)), max(n.hi, k.add(d, c.hi))
	}
}

// leaf derives what total elements of one kind have.
func (k *checked) leaf(n *node, total int) {
	t := &traits[n.kind]
	n.size, n.elems = k.mul(total, t.size), k.mul(total, n.kind.basics())
	n.align, n.sole, n.depth = t.align, n.kind, 1
	n.sig = kindSum(n.kind).times(total)
}

// runBytes is what n elements of a kind touch: the last one without the gap behind
// it.
func (k *checked) runBytes(kind Kind, n int) int {
	t := &traits[kind]
	end := t.size
	if t.pair {
		end = t.second + traits[t.parts[1]].size
	}
	return k.add(k.mul(n-1, t.extent), end)
}

// run makes n elements of a kind; n is above 0.
func (k *checked) run(kind Kind, n int) *node {
	r := &node{op: opRun, kind: kind, n: n}
	k.finish(r)
	return r
}

// rep makes n copies of c at a stride in bytes.
func (k *checked) rep(n, stride int, c place) place {
	switch {
	case n == 0 || c.node == nil:
		return place{}
	case n == 1:
		return c
	case k.mul(n, c.size) == 0: // too large, so the products below may be too
		return place{}
	case c.op == opRun && stride == k.mul(c.n, traits[c.kind].extent):
		return place{c.at, k.run(c.kind, n*c.n)}
	case c.op == opRep && stride == k.mul(c.n, c.stride):
		n, stride, c.node = n*c.n, c.stride, c.child
	}
	r := &node{op: opRep, n: n, stride: stride, child: c.node}
	k.finish(r)
	return place{c.at, r}
}
