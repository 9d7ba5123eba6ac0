package coll

// alltoallPairwise is Alltoallv and Alltoallw too. Each round has one message to a rank and one
// from a rank.
var alltoallPairwise = Algorithm{"pairwise",
	func(s *Shape) bool { return within(s) && !s.InPlace },
	func(s *Shape) Plan {
		var d draft
		in, out := s.blocks(In), s.arriving()
		for i := 1; i < s.Size; i++ {
			d.recv(s.left(i), out.at(s.left(i)))
			d.send(s.right(i), in.at(s.right(i)))
			if i == 1 {
				d.move(in.at(s.Rank), out.at(s.Rank))
			}
			d.wait()
		}
		if s.Size == 1 {
			d.move(in.at(0), out.at(0))
		}
		return d.end()
	}}

// alltoallInPlace swaps the blocks of two ranks at a time. In a round the ranks
// meet whose sum is the round's number, modulo their number. MPI has the blocks of
// a pair equally long (MPI-4.0 §6.8).
var alltoallInPlace = Algorithm{"pairwise-swap",
	func(s *Shape) bool { return within(s) && s.InPlace },
	func(s *Shape) Plan {
		var d draft
		out, most := s.arriving(), 0
		for i := range s.Size {
			if i != s.Rank {
				most = max(most, out.at(i).N)
			}
		}
		temp := d.temp(most)
		for round := range s.Size {
			peer := (round - s.Rank + s.Size) % s.Size
			if peer == s.Rank {
				continue
			}
			block := out.at(peer)
			d.recv(peer, temp.cut(0, block.N))
			d.send(peer, block)
			d.wait()
			d.move(temp.cut(0, block.N), block)
		}
		return d.end()
	}}

// arriving says where the blocks of Out are in Alltoall and Alltoallv.
func (s *Shape) arriving() blocks {
	if s.RecvCounts != nil {
		return blocks{Out, 0, s.RecvCounts, s.RecvDispls}
	}
	if s.Remote > 0 {
		return blocks{mem: Out, n: s.RecvCount}
	}
	return blocks{mem: Out, n: s.Count}
}
