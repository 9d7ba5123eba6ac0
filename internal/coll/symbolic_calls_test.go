package coll

// prepare gives a rank its arguments and memory, and says what it must get. It
// returns how many elements the rank's input has. Without terms it only does that.
// Arguments that are not significant are left out: no memory, no counts.
func (c trial) prepare(p *place, t *terms) (elements int) {
	s := p.shape
	two := c.sizes[1] > 0
	gets := !two || !c.atRoot(p.group) // in a call with one input
	gives := gets                      // in a call with one result
	root := p.i == c.root
	switch c.call {
	case Bcast:
		return c.vector(p, t, root, gets && !root, c.root, c.root+1, 0)
	case Reduce:
		return c.vector(p, t, gives, root, p.base, p.base+p.sources, 0)
	case Allreduce:
		return c.vector(p, t, true, true, p.base, p.base+p.sources, 0)
	case Scan:
		return c.vector(p, t, true, true, 0, s.Rank+1, 0)
	case Exscan:
		c.vector(p, t, true, s.Rank > 0, 0, s.Rank, 0)
		if s.Rank == 0 && s.InPlace {
			p.want = make([]want, len(p.out))
		}
		return c.count
	case ReduceScatterBlock, ReduceScatter:
		if two {
			s.Count = c.count * s.Remote
		}
		if c.call == ReduceScatter {
			s.Counts, s.Count = c.shares(s), -1
		}
		at := s.starts()
		n, mine := at[s.Size], at[s.Rank+1]-at[s.Rank]
		if t == nil {
			return n
		}
		p.in, p.out = blank(n), blank(mine)
		fill(p.in, t, p.i, 0)
		if s.InPlace {
			p.in, p.out = nil, p.in
		}
		p.want = make([]want, len(p.out))
		for i := range p.want {
			p.want[i].kind = anything
		}
		expect(p.want[:mine], p.base, p.base+p.sources, at[s.Rank])
		return n
	case Gather, Gatherv:
		s.Count = 0
		if gives {
			s.Count = c.length(p.i, 0)
		}
		c.gathered(p, t, gives, root)
		return s.Count
	case Allgather, Allgatherv:
		s.Count = c.length(p.i, 0)
		s.RecvCount = c.length(p.base, 0)
		c.gathered(p, t, true, true)
		return c.length(p.i, 0)
	case Scatter, Scatterv:
		return c.scattered(p, t, root, gets)
	case Alltoall, Alltoallv, Alltoallw:
		return c.exchanged(p, t)
	}
	return 0
}

// shares are the blocks of a ReduceScatter: of many lengths, some of them empty. Those of
// each of two groups have as many elements together.
func (c trial) shares(s *Shape) []int {
	all := make([]int, s.Size)
	for i := range all {
		if all[i] = (5*i + 2) % (c.count + 1); s.Remote > 0 {
			all[i] = c.count * s.Remote
		}
	}
	for i := 1; s.Remote > 0 && i < s.Size; i += 2 {
		more := min(all[i], i)
		all[i-1], all[i] = all[i-1]+more, all[i]-more
	}
	return all
}

// vector is for calls of one vector: a rank that gives has it, one that gets wants
// the reduction of the ranks [lo,hi).
func (c trial) vector(p *place, t *terms, gives, gets bool, lo, hi, element int) int {
	if t == nil {
		return c.count
	}
	if gives {
		p.in = blank(c.count)
		fill(p.in, t, p.i, 0)
	}
	if gets {
		p.out = blank(c.count)
		p.want = make([]want, c.count)
		expect(p.want, lo, hi, element)
	}
	if p.shape.InPlace && gives {
		p.in, p.out = nil, p.in
	}
	return c.count
}

// gathered is for calls that bring the blocks of all ranks to one, or to all.
func (c trial) gathered(p *place, t *terms, gives, gets bool) {
	if t == nil {
		return
	}
	s := p.shape
	if gives {
		p.in = blank(s.Count)
		fill(p.in, t, p.i, 0)
	}
	if !gets {
		return
	}
	counts := make([]int, p.sources)
	for j := range counts {
		counts[j] = c.length(p.base+j, 0)
	}
	displs, end := c.layout(counts)
	p.out, p.want = blank(end), make([]want, end)
	for j, at := range displs {
		expect(p.want[at:at+counts[j]], p.base+j, p.base+j+1, 0)
	}
	if s.InPlace {
		copy(p.out[displs[s.Rank]:], p.in)
		p.in = nil
	}
	if c.call.varies() {
		s.Counts, s.Displs = counts, displs
		if c.sizes[1] == 0 {
			s.Count = -1 // not significant
		}
	} else if c.call == Gather {
		s.Count = c.count
	}
}

// scattered is for Scatter. The root's input is one row of elements, gaps included.
func (c trial) scattered(p *place, t *terms, root, gets bool) int {
	s := p.shape
	first := 0 // rank 0 of those that get blocks
	n := c.sizes[0]
	if c.sizes[1] > 0 && c.atRoot(0) {
		first, n = c.sizes[0], c.sizes[1]
	}
	counts := make([]int, n)
	for j := range counts {
		counts[j] = c.length(first+j, 0)
	}
	displs, end := c.layout(counts)
	if s.Count = 0; gets {
		s.Count = counts[s.Rank]
	}
	if t == nil {
		return end
	}
	if gets && !s.InPlace {
		p.out, p.want = blank(s.Count), make([]want, s.Count)
		expect(p.want, c.root, c.root+1, displs[s.Rank])
	}
	if root {
		p.in = blank(end)
		for j, at := range displs {
			fill(p.in[at:at+counts[j]], t, p.i, at)
		}
		if c.call.varies() {
			s.Counts, s.Displs, s.Count = counts, displs, -1
		} else {
			s.Count = c.count
		}
	}
	return end
}

// exchanged is for Alltoall: each rank's input is one row of elements.
func (c trial) exchanged(p *place, t *terms) int {
	s := p.shape
	leave, arrive := make([]int, p.sources), make([]int, p.sources)
	for j := range leave {
		leave[j], arrive[j] = c.length(p.i, p.base+j), c.length(p.base+j, p.i)
	}
	from, end := c.layout(leave)
	to, top := c.layout(arrive)
	if t == nil {
		return end
	}
	p.in, p.out, p.want = blank(end), blank(top), make([]want, top)
	for j, at := range from {
		fill(p.in[at:at+leave[j]], t, p.i, at)
	}
	// Where the block for this rank begins in the input of rank j.
	theirs := make([]int, s.Size)
	group := p.i - s.Rank
	for j, at := range to {
		for k := range theirs {
			theirs[k] = c.length(p.base+j, group+k)
		}
		displs, _ := c.layout(theirs)
		expect(p.want[at:at+arrive[j]], p.base+j, p.base+j+1, displs[s.Rank])
	}
	if s.Count = c.length(p.i, 0); s.Remote > 0 {
		s.RecvCount = c.length(p.base, 0)
	}
	if c.call.varies() {
		s.Counts, s.Displs, s.RecvCounts, s.RecvDispls, s.Count = leave, from, arrive, to, -1
	}
	if s.InPlace {
		p.in, p.out, s.Counts, s.Displs = nil, p.in, nil, nil
	}
	return end
}
