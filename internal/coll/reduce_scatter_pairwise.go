package coll

// reduceScatterPairwise has a message to a rank and one from a rank in each round.
// It keeps the order of operands: what arrives comes from ever lower ranks, down to
// rank 0, and then from the last rank on downwards. The latter are added up apart.
var reduceScatterPairwise = Algorithm{"pairwise", within, func(s *Shape) Plan {
	var d draft
	at := s.starts()
	in, end := s.input(at[s.Size]), s.result(at)
	block := func(i int) Ref { return in.cut(at[i], at[i+1]-at[i]) }
	own, out, n := block(s.Rank), end, end.N
	if s.InPlace && own.At > 0 && own.At < n {
		out = d.temp(n) // the block and the place of its result overlap
	}
	lower := fold{draft: &d, mine: own, out: out}
	if s.InPlace {
		// The first block of Out is still to be sent. The own one never is.
		lower.out = lower.mine
	}
	var upper fold
	for i := 1; i < s.Size; i++ {
		to, from := s.right(i), s.left(i)
		d.send(to, block(to))
		switch {
		case from < s.Rank:
			if i == s.Size-1 {
				lower.out = out
			}
			lower.add(from, true)
		case from == s.Size-1:
			sum := out
			if s.Rank > 0 || s.InPlace {
				sum = d.temp(n)
			}
			d.recv(from, sum)
			d.wait()
			upper = fold{draft: &d, mine: sum, out: sum, spare: lower.spare}
		default:
			upper.add(from, true)
		}
	}
	if s.Rank < s.Size-1 {
		d.combine(lower.mine, upper.mine, out)
	} else {
		d.move(lower.mine, out)
	}
	d.move(out, end)
	return d.end()
}}
