package coll

var gatherBinomial = Algorithm{"binomial", within, func(s *Shape) Plan {
	var d draft
	mine, out := Ref{In, 0, s.Count}, Ref{}
	if s.Rank == s.Root {
		out = Ref{Out, 0, s.Count * s.Size}
		if s.InPlace {
			mine = out.cut(s.Root*s.Count, s.Count)
		}
	}
	d.gather(s.Rank, s.Size, s.Root, mine, out)
	return d.end()
}}

// gather collects blocks up a binomial tree. Inside the tree they are in the order
// of places. The root receives them where they belong: a subtree whose ranks go on
// from the last one to rank 0 sends it two messages.
func (d *draft) gather(rank, size, root int, mine, out Ref) {
	t, n := newTree(rank, size, root), mine.N
	all := mine
	if below := t.below(t.place, t.reach); t.place > 0 && below > 1 {
		all = d.temp(below * n)
	}
	for m := 1; m < t.reach && t.place+m < size; m *= 2 {
		child, below := t.place+m, t.below(t.place+m, m)
		from := t.rank(child)
		if t.place > 0 {
			d.recv(from, all.cut(m*n, below*n))
			continue
		}
		first := t.first(child, below)
		d.recv(from, out.cut(from*n, first*n))
		d.recv(from, out.cut(0, (below-first)*n))
	}
	if t.place == 0 {
		d.move(mine, out.cut(rank*n, n))
		return
	}
	d.move(mine, all.cut(0, n))
	d.wait()
	first := all.N / max(n, 1)
	if t.place == t.reach { // the parent is the root
		first = t.first(t.place, first)
	}
	d.send(t.parent(), all.cut(0, first*n))
	d.send(t.parent(), all.cut(first*n, all.N-first*n))
}
