package coll

// exscan123 is 123-doubling (J. L. Träff, arXiv 2507.04785): messages go to the
// ranks 1, 2, 3, 6, 12 … after the own one. The second one carries the own operand
// besides the sum of those before it, so no later one needs it, and the sums cover
// 1, 3, 6, 12 … ranks. Rank 0 has no such sum, and does not use Out except for its
// operand in place.
var exscan123 = Algorithm{"123-doubling", within, func(s *Shape) Plan {
	var d draft
	n, own, out := s.Count, s.input(s.Count), Ref{Out, 0, s.Count}
	if s.Rank == 0 {
		for to := 1; to <= 2 && to < s.Size; to++ {
			d.send(to, own)
		}
		return d.end()
	}
	sum := out
	if s.InPlace && s.Rank+1 < s.Size {
		sum = d.temp(n)
	}
	if s.Rank+1 < s.Size {
		d.send(s.Rank+1, own)
	}
	d.recv(s.Rank-1, sum)
	d.wait()
	if s.Rank+2 < s.Size {
		with := own // in place the own operand is not needed any more
		if !s.InPlace {
			with = d.temp(n)
		}
		d.combine(sum, own, with)
		d.send(s.Rank+2, with)
	}
	var next Ref
	if s.Rank > 1 {
		next = d.temp(n)
		d.recv(s.Rank-2, next)
		d.wait()
		d.combine(next, sum, out)
	} else if sum != out {
		d.wait()
		d.move(sum, out)
	}
	for m := 3; m+1 < s.Size; m *= 2 {
		if s.Rank+m < s.Size {
			d.send(s.Rank+m, out)
		}
		if s.Rank > m {
			d.recv(s.Rank-m, next)
			d.wait()
			d.combine(next, out, out)
		}
	}
	return d.end()
}}
