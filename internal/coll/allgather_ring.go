package coll

// allgatherRing hands blocks on from rank to rank: each goes around once, straight
// to its place. It is Allgatherv too.
var allgatherRing = Algorithm{"ring", within, func(s *Shape) Plan {
	var d draft
	out := s.blocks(Out)
	own := out.at(s.Rank)
	have := own
	if !s.InPlace {
		have = Ref{In, 0, own.N}
	}
	first := have
	for i := 1; i < s.Size; i++ {
		next := out.at(s.left(i))
		d.send(s.right(1), have)
		d.recv(s.left(1), next)
		if i == 1 {
			d.move(first, own)
		}
		d.wait()
		have = next
	}
	if s.Size == 1 {
		d.move(first, own)
	}
	return d.end()
}}
