package datatype

// inlineParts is how many parts a list and a child's list may have at most for the
// child's to become part of it. Longer ones would take memory out of proportion to
// the constructors' arguments.
const inlineParts = 16

// seq makes one node of parts in their order. It merges runs that follow one
// another, and recognises parts that are alike at a constant stride.
func (k *checked) seq(parts []place) place {
	var list []place
	for _, p := range parts {
		if p.node == nil {
			continue
		}
		if (p.op == opSeq || p.op == opRuns) && len(p.disps) <= inlineParts && len(parts) <= inlineParts {
			for i, d := range p.disps {
				list = k.join(list, place{k.add(p.at, d), k.item(p.node, i)})
			}
			continue
		}
		list = k.join(list, p)
	}
	switch {
	case len(list) == 0 || k.over:
		return place{}
	case len(list) == 1:
		return list[0]
	}
	disps, kids, alike, kind := make([]int, len(list)), make([]*node, len(list)), true, list[0].kind
	for i, p := range list {
		disps[i], kids[i] = p.at, p.node
		alike = alike && p.node == list[0].node
		if p.op != opRun || p.kind != kind {
			kind = 0
		}
	}
	if kind != 0 {
		lens := make([]int, len(list))
		for i, p := range list {
			lens[i] = p.n
		}
		return k.runs(kind, disps, lens)
	}
	if alike {
		if stride, ok := k.constant(disps); ok {
			return k.rep(len(disps), stride, list[0])
		}
		kids = kids[:1:1]
	}
	n := &node{op: opSeq, disps: disps, kids: kids}
	at := k.fromFirst(n.disps)
	k.finish(n)
	return place{at, n}
}

// item is the i-th part of an opSeq or opRuns.
func (k *checked) item(n *node, i int) *node {
	if n.op == opSeq {
		return n.part(i)
	}
	return k.run(n.kind, n.runLen(i))
}

// join appends a part to a list, or to the run at the list's end. Equal runs in a
// row become one node.
func (k *checked) join(list []place, p place) []place {
	if len(list) == 0 || p.op != opRun {
		return append(list, p)
	}
	last := &list[len(list)-1]
	switch {
	case last.op != opRun || last.kind != p.kind:
	case p.at == k.add(last.at, k.mul(last.n, traits[p.kind].extent)):
		last.node = k.run(p.kind, k.add(last.n, p.n))
		return list
	case last.n == p.n:
		p.node = last.node
	}
	return append(list, p)
}

// runs makes runs of lens[i] elements of a kind at disps[i], none of them empty,
// at least one. It takes both lists.
func (k *checked) runs(kind Kind, disps, lens []int) place {
	extent, m := traits[kind].extent, 0
	for i := 1; i < len(disps); i++ {
		if disps[i] == k.add(disps[m], k.mul(lens[m], extent)) {
			lens[m] = k.add(lens[m], lens[i])
			continue
		}
		m++
		disps[m], lens[m] = disps[i], lens[i]
	}
	disps, lens = disps[:m+1], lens[:m+1]
	if k.over {
		return place{}
	}
	equal := true
	for _, l := range lens {
		equal = equal && l == lens[0]
	}
	if equal {
		one := k.run(kind, lens[0])
		if stride, ok := k.constant(disps); ok || k.over {
			return k.rep(len(disps), stride, place{disps[0], one})
		}
		lens = lens[:1:1]
	}
	n := &node{op: opRuns, kind: kind, disps: disps, lens: lens}
	at := k.fromFirst(n.disps)
	k.finish(n)
	return place{at, n}
}

// constant returns the distance of displacements that are equally far apart.
func (k *checked) constant(disps []int) (stride int, ok bool) {
	if len(disps) == 1 {
		return 0, true
	}
	stride = k.sub(disps[1], disps[0])
	for i := 2; i < len(disps); i++ {
		if k.sub(disps[i], disps[i-1]) != stride {
			return 0, false
		}
	}
	return stride, !k.over
}

// fromFirst makes displacements relative to the first one, which it returns.
func (k *checked) fromFirst(disps []int) (first int) {
	first = disps[0]
	for i := range disps {
		disps[i] = k.sub(disps[i], first)
	}
	return first
}

// shifted is p further on by d bytes.
func (k *checked) shifted(p place, d int) place {
	if p.node == nil {
		return p
	}
	p.at = k.add(p.at, d)
	return p
}
