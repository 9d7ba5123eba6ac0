package datatype

import "iter"

// Elements is a piece of memory with elements of one kind.
type Elements struct {
	Kind Kind
	Off  int // of the first element, from the origin
	N    int // they follow one another, Kind.Extent bytes apart
}

// Elements are those of count elements of the type that lie wholly within the
// packed bytes [from, to), in the order in which they are packed: what an operator
// is applied to. A pair is one element. See [Type.Cut] for pieces that end between
// elements.
func (t *Type) Elements(count, from, to int) iter.Seq[Elements] {
	return func(yield func(Elements) bool) {
		if t.place.node == nil || count <= 0 {
			return
		}
		w := walk{max(from, 0), to, yield}
		w.rep(t.place.node, t.at, count, t.ub-t.lb, 0)
	}
}

// walk visits the elements within some packed bytes.
type walk struct {
	from, to int
	yield    func(Elements) bool
}

// node visits the elements of a node that lies at a displacement and begins at a
// packed offset. It is false when there are no more to visit.
func (w *walk) node(n *node, disp, start int) bool {
	switch n.op {
	case opRun:
		return w.run(n.kind, disp, n.n, start)
	case opRep:
		return w.rep(n.child, disp, n.n, n.stride, start)
	}
	i := 0
	if w.from > start {
		if w.from >= start+n.size {
			return true
		}
		i = n.find(w.from - start)
	}
	for ; i < len(n.disps); i++ {
		at, more := start+n.start(i), false
		if at >= w.to {
			return false
		}
		if n.op == opRuns {
			more = w.run(n.kind, disp+n.disps[i], n.runLen(i), at)
		} else {
			more = w.node(n.part(i), disp+n.disps[i], at)
		}
		if !more {
			return false
		}
	}
	return true
}

func (w *walk) rep(c *node, disp, n, stride, start int) bool {
	i := max(0, (w.from-start)/c.size)
	for ; i < n; i++ {
		at := start + i*c.size
		if at >= w.to || !w.node(c, disp+i*stride, at) {
			return false
		}
	}
	return true
}

func (w *walk) run(k Kind, disp, n, start int) bool {
	size := traits[k].size
	first := 0
	if w.from > start {
		first = ceil(w.from-start, size)
	}
	last := n
	if w.to < start+n*size {
		last = (w.to - start) / size // 0 or below if to is before start
	}
	if first >= last {
		return w.to > start
	}
	return w.yield(Elements{k, disp + first*traits[k].extent, last - first})
}

// Cut is the largest number of packed bytes, at most n, after which no element is
// cut in two. A pair is one element.
func (t *Type) Cut(n int) int {
	if t.place.node == nil || n <= 0 {
		return 0
	}
	_, in := t.kindAt(n % t.size)
	return n - in
}

// kindAt is the element in which a packed offset below the node's size lies, and
// how many of its bytes are before the offset.
func (n *node) kindAt(at int) (k Kind, in int) {
	for {
		switch n.op {
		case opRun:
			return n.kind, at % traits[n.kind].size
		case opRuns:
			return n.kind, (at - n.start(n.find(at))) % traits[n.kind].size
		case opRep:
			n, at = n.child, at%n.child.size
		case opSeq:
			i := n.find(at)
			n, at = n.part(i), at-n.start(i)
		}
	}
}

// Count is how many whole elements of the type a message of some packed bytes has
// (MPI_Get_count, MPI-4.0 §3.2.5). It is false (MPI_UNDEFINED) if the last one is
// not whole. A type without data has none in a message of no bytes.
func (t *Type) Count(bytes int) (n int, ok bool) {
	switch size := t.Size(); {
	case bytes == 0:
		return 0, true
	case size == 0 || bytes < 0 || bytes%size != 0:
		return 0, false
	default:
		return bytes / size, true
	}
}

// CountElements is how many basic elements a message of some packed bytes has
// (MPI_Get_elements, MPI-4.0 §5.1.11); a pair counts as two. It is false
// (MPI_UNDEFINED) if the last one is not whole.
func (t *Type) CountElements(bytes int) (n int, ok bool) {
	switch {
	case bytes == 0:
		return 0, true
	case t.place.node == nil || bytes < 0:
		return 0, false
	}
	whole := bytes / t.size
	in, ok := t.place.node.elementsIn(bytes % t.size)
	if !ok {
		return 0, false
	}
	return whole*t.elems + in, true
}

// ElementBytes is how many packed bytes the first basic elements of a message have, the
// inverse of CountElements. It is false if n is below 0, or no message has so many.
func (t *Type) ElementBytes(n int) (bytes int, ok bool) {
	switch {
	case n == 0:
		return 0, true
	case t.place.node == nil || n < 0:
		return 0, false
	}
	var k checked
	bytes = k.add(k.mul(n/t.elems, t.size), t.place.node.bytesOf(n%t.elems))
	return bytes, !k.over
}

// bytesOf is how many packed bytes the first basic elements of a node have, which are fewer
// than it has.
func (n *node) bytesOf(elements int) (bytes int) {
	for elements > 0 {
		switch n.op {
		case opRun, opRuns:
			t := &traits[n.kind]
			per := n.kind.basics()
			bytes += elements / per * t.size
			if elements%per != 0 {
				bytes += traits[t.parts[0]].size
			}
			return bytes
		case opRep:
			bytes += elements / n.child.elems * n.child.size
			n, elements = n.child, elements%n.child.elems
		case opSeq:
			i := 0
			if len(n.kids) == 1 {
				i = elements / n.kids[0].elems
				elements %= n.kids[0].elems
			} else {
				for ; elements >= n.kids[i].elems; i++ {
					elements -= n.kids[i].elems
				}
			}
			bytes += n.start(i)
			n = n.part(i)
		}
	}
	return bytes
}

// elementsIn is the number of basic elements in the first packed bytes of a node,
// which are fewer than it has.
func (n *node) elementsIn(bytes int) (count int, ok bool) {
	for bytes > 0 {
		switch n.op {
		case opRun, opRuns:
			t := &traits[n.kind]
			count += bytes / t.size * n.kind.basics()
			switch in := bytes % t.size; {
			case in == 0:
				return count, true
			case t.pair && in == traits[t.parts[0]].size:
				return count + 1, true
			}
			return 0, false
		case opRep:
			count += bytes / n.child.size * n.child.elems
			n, bytes = n.child, bytes%n.child.size
		case opSeq:
			i := n.find(bytes)
			if len(n.kids) == 1 {
				count += i * n.kids[0].elems
			} else {
				for _, c := range n.kids[:i] {
					count += c.elems
				}
			}
			n, bytes = n.part(i), bytes-n.start(i)
		}
	}
	return count, true
}
