package coll

import "testing"

// Algorithms that large vectors will need fit the form of a plan: one that works on
// pieces of a vector, and one that sends a piece while the next one arrives.
func TestSymbolicRunsAlgorithmsOfPieces(t *testing.T) {
	for _, c := range []struct {
		call Call
		alg  *Algorithm
	}{{Allreduce, &rabenseifner}, {Bcast, &chain}} {
		for _, p := range []int{1, 2, 3, 4, 7, 8, 16, 32} {
			try(t, trial{call: c.call, alg: c.alg, sizes: [2]int{p}}, []int{0, 1, p + 1, 4 * p, 61}, rootsOf(p))
		}
	}
}

// rabenseifner halves the vector from round to round until each rank has the sum of
// a piece, and then doubles it again. It swaps no operands: the partners of a round
// have the sums of neighboring ranks, the nearest first.
var rabenseifner = Algorithm{"rabenseifner",
	func(s *Shape) bool { return within(s) && s.Size&(s.Size-1) == 0 && s.Count >= s.Size && s.Size > 1 },
	func(s *Shape) Plan {
		var d draft
		from := s.input(s.Count)
		lo, hi := 0, s.Count
		type cut struct{ peer, lo, mid, hi int }
		var cuts []cut
		var temp Ref
		for m := 1; m < s.Size; m *= 2 {
			c := cut{s.Rank ^ m, lo, (lo + hi) / 2, hi}
			cuts = append(cuts, c)
			give := from.cut(c.mid, hi-c.mid)
			if hi = c.mid; s.Rank&m != 0 {
				give = from.cut(lo, c.mid-lo)
				lo, hi = c.mid, c.hi
			}
			if m == 1 {
				temp = d.temp(hi - lo)
			}
			keep, into := from.cut(lo, hi-lo), temp.cut(0, hi-lo)
			d.send(c.peer, give)
			d.recv(c.peer, into)
			d.wait()
			lower, upper := keep, into
			if c.peer < s.Rank {
				lower, upper = into, keep
			}
			from = Ref{Out, 0, s.Count}
			d.combine(lower, upper, from.cut(lo, hi-lo))
		}
		for i := len(cuts) - 1; i >= 0; i-- {
			c := cuts[i]
			d.send(c.peer, from.cut(lo, hi-lo))
			if lo == c.lo {
				d.recv(c.peer, from.cut(c.mid, c.hi-c.mid))
			} else {
				d.recv(c.peer, from.cut(c.lo, c.mid-c.lo))
			}
			d.wait()
			lo, hi = c.lo, c.hi
		}
		return d.end()
	}}

// chain passes pieces of four elements from rank to rank.
var chain = Algorithm{"chain", within, func(s *Shape) Plan {
	const piece = 4
	var d draft
	place := s.left(s.Root)
	buf := Ref{Out, 0, s.Count}
	if place == 0 {
		buf.Mem = In
	}
	for at := 0; at < s.Count+piece; at += piece {
		if before := at - piece; before >= 0 && place+1 < s.Size {
			d.send(s.right(1), buf.cut(before, min(piece, s.Count-before)))
		}
		if at < s.Count && place > 0 {
			d.recv(s.left(1), buf.cut(at, min(piece, s.Count-at)))
		}
		d.wait()
	}
	return d.end()
}}
