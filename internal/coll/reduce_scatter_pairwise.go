package coll

// reduceScatterPairwise has a message to a rank and one from a rank in each round.
// It keeps the order of operands: what arrives comes from ever lower ranks, down to
// rank 0, and then from the last rank on downwards. The latter are added up apart.
var reduceScatterPairwise = Algorithm{"pairwise", within, func(s *Shape) Plan {
	var d draft
	n := s.Count
	in, out := s.input(s.Size*n), Ref{Out, 0, n}
	lower := fold{draft: &d, mine: in.cut(s.Rank*n, n), out: out}
	if s.InPlace {
		// The first block of Out is still to be sent. The own one never is.
		lower.out = lower.mine
	}
	var upper fold
	for i := 1; i < s.Size; i++ {
		to, from := s.right(i), s.left(i)
		d.send(to, in.cut(to*n, n))
		switch {
		case from < s.Rank:
			if i == s.Size-1 {
				lower.out = out
			}
			lower.add(from, true)
		case from == s.Size-1:
			at := out
			if s.Rank > 0 || s.InPlace {
				at = d.temp(n)
			}
			d.recv(from, at)
			d.wait()
			upper = fold{draft: &d, mine: at, out: at, spare: lower.spare}
		default:
			upper.add(from, true)
		}
	}
	if s.Rank < s.Size-1 {
		d.combine(lower.mine, upper.mine, out)
	} else {
		d.move(lower.mine, out)
	}
	return d.end()
}}
