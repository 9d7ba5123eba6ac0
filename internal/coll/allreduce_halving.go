package coll

// allreduceHalving is recursive halving, then doubling (R. Rabenseifner, 2004). Partners
// give each other half of what they have combined so far and combine the other half; then
// they return the results the same way. So every rank combines an operand once, and one
// rank computes an element for all. The partners of the first round are neighbors, so
// that operands keep the order of ranks.
var allreduceHalving = Algorithm{"halving-doubling", within, func(s *Shape) Plan {
	return allreduce(s, func(f *fold, place, power int, rank func(int) int) {
		type level struct{ keep, give span }
		var levels []level
		spare := f.spare
		part := span{0, s.Count}
		for m := 1; m < power; m *= 2 {
			half := (part.lo + part.hi) / 2
			l := level{span{part.lo, half}, span{half, part.hi}}
			if place&m != 0 {
				l.keep, l.give = l.give, l.keep
			}
			levels, part = append(levels, l), l.keep
			peer, own, result := rank(place^m), l.keep.of(f.mine), l.keep.of(f.out)
			into := result
			if f.mine.Mem != In { // it holds the own operand
				if spare.Mem == None {
					spare = f.temp(own.N)
				}
				into = spare.cut(0, own.N)
			}
			f.send(peer, l.give.of(f.mine))
			f.recv(peer, into)
			f.wait()
			if peer < s.Rank {
				f.combine(into, own, result)
			} else {
				f.combine(own, into, result)
			}
			f.mine = f.out
		}
		for m := power / 2; m > 0; m /= 2 {
			l := levels[len(levels)-1]
			levels = levels[:len(levels)-1]
			peer := rank(place ^ m)
			f.send(peer, l.keep.of(f.out))
			f.recv(peer, l.give.of(f.out))
			f.wait()
		}
	})
}}

// of are the elements of r in a span.
func (x span) of(r Ref) Ref { return r.cut(x.lo, x.hi-x.lo) }
