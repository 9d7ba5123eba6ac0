package coll

// reduceScatterTree reduces to rank 0, which scatters: fewer messages in a row than
// pairwise, and more bytes.
var reduceScatterTree = Algorithm{"reduce-then-scatter", within, func(s *Shape) Plan {
	var d draft
	in, out := s.input(s.Size*s.Count), Ref{Out, 0, s.Count}
	if s.Size == 1 {
		d.move(in, out)
		return d.end()
	}
	var sum Ref
	if s.Rank == 0 && s.InPlace {
		sum = in
	} else if s.Rank == 0 {
		sum = d.temp(in.N)
	}
	d.reduce(s, 0, in, sum)
	if s.InPlace {
		d.wait() // what is sent lies where the result comes
	}
	d.scatter(s.Rank, s.Size, 0, sum, out)
	return d.end()
}}
