package datatype

// inlineBlocks is how many blocks a list may have at least that is made of
// children's blocks.
const inlineBlocks = 32

// compileProgram makes the program of a typemap.
func compileProgram(p place) *program {
	if p.node == nil {
		return &program{}
	}
	return &program{root: compiler{}.node(p.node), lo: p.at + p.lo, hi: p.at + p.hi}
}

// compiler remembers the code of nodes, which may have several parents. A code
// begins where its node does: at the first byte of the stream.
type compiler map[*node]*code

func (c compiler) node(n *node) *code {
	if made, ok := c[n]; ok {
		return made
	}
	var r *code
	switch n.op {
	case opRun:
		r = elements(n.kind, n.n)
	case opRep:
		t := times(c.node(n.child), n.n, n.stride)
		r = &t
	case opRuns:
		r = c.runs(n)
	case opSeq:
		r = c.seq(n)
	}
	c[n] = r
	return r
}

// elements is the code of n elements of a kind.
func elements(k Kind, n int) *code {
	t := &traits[k]
	if k.dense() {
		return block(n * t.size)
	}
	one := block(t.size)
	if a := traits[t.parts[0]].size; a != t.second {
		one = listOf([]int{0, t.second}, []int{a, t.size - a})
	}
	all := times(one, n, t.extent)
	return &all
}

// runs is the code of an opRuns.
func (c compiler) runs(n *node) *code {
	size := traits[n.kind].size
	if !n.kind.dense() {
		kids := make([]*code, len(n.lens))
		for i, l := range n.lens {
			kids[i] = elements(n.kind, l)
		}
		return seqOf(n.disps, kids, n.size)
	}
	if len(n.lens) == 1 {
		l := &parts{size: n.size, disps: n.disps, b: n.lens[0] * size}
		return &code{op: codeList, size: n.size, list: l}
	}
	lens := make([]int, len(n.lens))
	for i, l := range n.lens {
		lens[i] = l * size
	}
	return listOf(n.disps, lens)
}

// seq is the code of an opSeq: a list of blocks if its children come to few of
// them.
func (c compiler) seq(n *node) *code {
	kids := make([]*code, len(n.kids))
	blocks, bound := 0, max(inlineBlocks, 2*len(n.disps))
	for i := range n.disps {
		if i < len(kids) {
			kids[i] = c.node(n.kids[i])
		}
		blocks += kids[min(i, len(kids)-1)].blocks(bound)
		if blocks > bound {
			break
		}
	}
	if blocks <= bound {
		var disps, lens []int
		for i, d := range n.disps {
			disps, lens = kids[min(i, len(kids)-1)].expand(d, disps, lens)
		}
		return listOf(disps, lens)
	}
	for i := range kids {
		kids[i] = c.node(n.kids[i])
	}
	return seqOf(n.disps, kids, n.size)
}

// blocks is the number of blocks of a code, or a number above bound.
func (c *code) blocks(bound int) int {
	n, rows := 1, 1
	switch c.op {
	case codeGrid:
		n, rows = c.n1, c.n2
	case codeRows:
		n, rows = len(c.list.disps), c.n2
	case codeList:
		n = len(c.list.disps)
	case codeLoop:
		n, rows = c.child.blocks(bound), c.n2
	case codeSeq:
		n = bound + 1
	}
	if n > bound || rows > bound {
		return bound + 1
	}
	return n * rows
}

// expand appends the blocks of a code, which are few.
func (c *code) expand(at int, disps, lens []int) ([]int, []int) {
	switch c.op {
	case codeBlock:
		return append(disps, at), append(lens, c.b)
	case codeGrid:
		for row := range c.n2 {
			for i := range c.n1 {
				disps, lens = append(disps, at+row*c.s2+i*c.s1), append(lens, c.b)
			}
		}
	case codeLoop:
		for row := range c.n2 {
			disps, lens = c.child.expand(at+row*c.s2, disps, lens)
		}
	default: // codeList, codeRows
		for row := range max(c.n2, 1) {
			for i, d := range c.list.disps {
				disps, lens = append(disps, at+row*c.s2+d), append(lens, c.list.bytes(i))
			}
		}
	}
	return disps, lens
}

// listOf is the code of blocks. It merges neighbours, and recognises blocks that are
// alike at a constant stride. It keeps disps.
func listOf(disps, lens []int) *code {
	var d, l []int
	total, alike := 0, true
	for i, at := range disps {
		total += lens[i]
		if m := len(d) - 1; m >= 0 && at == d[m]+l[m] {
			l[m] += lens[i]
			continue
		}
		d, l = append(d, at), append(l, lens[i])
	}
	for i := range l {
		alike = alike && l[i] == l[0]
	}
	if len(d) == 1 {
		return block(total)
	}
	list := &parts{size: total, disps: d}
	if !alike {
		list.ends = l
		for i := 1; i < len(l); i++ {
			l[i] += l[i-1]
		}
		return &code{op: codeList, size: total, list: list}
	}
	list.b = l[0]
	stride := d[1] - d[0]
	for i := 2; i < len(d); i++ {
		if d[i]-d[i-1] != stride {
			return &code{op: codeList, size: total, list: list}
		}
	}
	return &code{op: codeGrid, size: total, n2: 1, n1: len(d), s1: stride, b: l[0]}
}

// seqOf is the code of children at displacements; one child if all are alike.
func seqOf(disps []int, kids []*code, size int) *code {
	l := &parts{size: size, disps: disps, kids: kids}
	levels := kids[0].levels
	if len(kids) > 1 {
		l.ends = make([]int, len(kids))
		end := 0
		for i, k := range kids {
			end += k.size
			l.ends[i] = end
			levels = max(levels, k.levels)
		}
	}
	return &code{op: codeSeq, size: size, list: l, levels: levels + 1}
}
