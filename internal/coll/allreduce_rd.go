package coll

// allreduceRD is recursive doubling. Two partners compute the same expression,
// lower ⊕ upper, of the operands of consecutive ranks, so every rank gets the same
// bits (MPI-4.0 §6.9.6). Where the number of ranks is no
// power of two, each of the first even ranks gives its operand to its neighbor,
// which takes part for both and returns the result.
var allreduceRD = Algorithm{"recursive-doubling", within, func(s *Shape) Plan {
	var d draft
	out := Ref{Out, 0, s.Count}
	f := fold{draft: &d, mine: s.input(s.Count), out: out}
	power := 1
	for 2*power <= s.Size {
		power *= 2
	}
	pairs := s.Size - power
	paired := s.Rank < 2*pairs
	if paired && s.Rank%2 == 0 {
		d.send(s.Rank+1, f.mine)
		if s.InPlace {
			d.wait()
		}
		d.recv(s.Rank+1, out)
		return d.end()
	}
	place := s.Rank - pairs
	if paired {
		f.add(s.Rank-1, true)
		place = s.Rank / 2
	}
	for m := 1; m < power; m *= 2 {
		peer := place ^ m
		if peer < pairs {
			peer = 2*peer + 1
		} else {
			peer += pairs
		}
		d.send(peer, f.mine)
		f.add(peer, peer < s.Rank)
	}
	if paired {
		d.send(s.Rank-1, out)
	}
	if s.Size == 1 {
		d.move(f.mine, out)
	}
	return d.end()
}}
