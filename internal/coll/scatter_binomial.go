package coll

var scatterBinomial = Algorithm{"binomial", within, func(s *Shape) Plan {
	var d draft
	from, out := Ref{}, Ref{Out, 0, s.Count}
	if s.Rank == s.Root {
		from = Ref{In, 0, s.Count * s.Size}
		if s.InPlace {
			out = from.cut(s.Root*s.Count, s.Count)
		}
	}
	d.scatter(s.Rank, s.Size, s.Root, from, out)
	return d.end()
}}

// scatter is gather backwards: the root sends the blocks of a subtree from where
// they lie, in two messages if they lie apart.
func (d *draft) scatter(rank, size, root int, from, out Ref) {
	t, n := newTree(rank, size, root), out.N
	all := out
	if t.place > 0 {
		below := t.below(t.place, t.reach)
		if below > 1 {
			all = d.temp(below * n)
		}
		first := below
		if t.place == t.reach { // the parent is the root
			first = t.first(t.place, below)
		}
		d.recv(t.parent(), all.cut(0, first*n))
		d.recv(t.parent(), all.cut(first*n, (below-first)*n))
		d.wait()
	}
	for m := t.reach / 2; m > 0; m /= 2 {
		child := t.place + m
		if child >= size {
			continue
		}
		to, below := t.rank(child), t.below(child, m)
		if t.place > 0 {
			d.send(to, all.cut(m*n, below*n))
			continue
		}
		first := t.first(child, below)
		d.send(to, from.cut(to*n, first*n))
		d.send(to, from.cut(0, (below-first)*n))
	}
	if t.place == 0 {
		d.move(from.cut(rank*n, n), out)
	} else {
		d.move(all.cut(0, n), out)
	}
}
