package coll

var reduceBinomial = Algorithm{"binomial", within, func(s *Shape) Plan {
	var d draft
	mine, out := Ref{In, 0, s.Count}, Ref{}
	if s.Rank == s.Root {
		mine, out = s.input(s.Count), Ref{Out, 0, s.Count}
	}
	d.reduce(s, s.Root, mine, out)
	return d.end()
}}

// reduce combines up a binomial tree. The tree of an operator that does not commute
// has rank 0 as its root, so that each rank has the operands of consecutive ranks;
// rank 0 then sends the result to the root. Two ranks need no such detour.
func (d *draft) reduce(s *Shape, root int, mine, out Ref) {
	top := root
	if !s.Commutes && s.Size > 2 {
		top = 0
	}
	t := newTree(s.Rank, s.Size, top)
	f := fold{draft: d, mine: mine, out: out}
	for m := 1; m < t.reach && t.place+m < s.Size; m *= 2 {
		child := t.rank(t.place + m)
		f.add(child, child < s.Rank)
	}
	if t.place > 0 {
		d.send(t.parent(), f.mine)
	}
	if top != root && s.Rank == top {
		d.send(root, f.mine)
	}
	if s.Rank == root && top == root {
		d.move(f.mine, out)
	} else if s.Rank == root {
		if f.mine == out {
			d.wait()
		}
		d.recv(top, out)
	}
}
