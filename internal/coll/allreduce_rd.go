package coll

// allreduceRD is recursive doubling. Two partners compute the same expression,
// lower ⊕ upper, of the operands of consecutive ranks, so every rank gets the same
// bits (MPI-4.0 §6.9.6).
var allreduceRD = Algorithm{"recursive-doubling", within, func(s *Shape) Plan {
	return allreduce(s, func(f *fold, place, power int, rank func(int) int) {
		for m := 1; m < power; m *= 2 {
			peer := rank(place ^ m)
			f.send(peer, f.mine)
			f.add(peer, peer < s.Rank)
		}
	})
}}

// allreduce makes the plan of an Allreduce in which a power of two of ranks combine what
// they have. Where the number of ranks is none, each of the first even ranks gives its
// operand to its neighbor, which takes part for both and returns the result. rank is that
// of a place among those that take part.
func allreduce(s *Shape, combine func(f *fold, place, power int, rank func(place int) int)) Plan {
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
	combine(&f, place, power, func(place int) int {
		if place < pairs {
			return 2*place + 1
		}
		return place + pairs
	})
	if paired {
		d.send(s.Rank-1, out)
	}
	if s.Size == 1 {
		d.move(f.mine, out)
	}
	return d.end()
}
