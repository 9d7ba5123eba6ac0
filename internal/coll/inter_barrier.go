package coll

// interBarrier: each group's ranks report up a binomial tree to its rank 0. The two
// exchange messages and have the trees pass the news on.
var interBarrier = Algorithm{"inter-binomial", between, func(s *Shape) Plan {
	var d draft
	t := newTree(s.Rank, s.Size, 0)
	for m := 1; m < t.reach && s.Rank+m < s.Size; m *= 2 {
		d.await(s.Rank + m)
	}
	d.wait()
	up := s.other(0)
	if s.Rank > 0 {
		up = t.parent()
	}
	d.signal(up)
	d.await(up)
	d.wait()
	for m := t.reach / 2; m > 0; m /= 2 {
		if s.Rank+m < s.Size {
			d.signal(s.Rank + m)
		}
	}
	return d.end()
}}
