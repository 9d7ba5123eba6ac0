package coll

var bcastBinomial = Algorithm{"binomial", within, func(s *Shape) Plan {
	var d draft
	buf := Ref{Out, 0, s.Count}
	if s.Rank == s.Root {
		buf.Mem = In
	}
	d.bcast(s.Rank, s.Size, s.Root, buf)
	return d.end()
}}

// bcast sends the root's buf down a binomial tree, the tallest subtree first.
func (d *draft) bcast(rank, size, root int, buf Ref) {
	t := newTree(rank, size, root)
	if t.place > 0 {
		d.recv(t.parent(), buf)
		d.wait()
	}
	for m := t.reach / 2; m > 0; m /= 2 {
		if child := t.place + m; child < size {
			d.send(t.rank(child), buf)
		}
	}
}
