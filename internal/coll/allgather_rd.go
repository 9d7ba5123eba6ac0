package coll

// allgatherRD is recursive doubling: the blocks of 2, 4, 8 ranks are exchanged.
var allgatherRD = Algorithm{"recursive-doubling",
	func(s *Shape) bool { return within(s) && s.Size&(s.Size-1) == 0 },
	func(s *Shape) Plan {
		var d draft
		n := s.Count
		out := Ref{Out, 0, s.Size * n}
		own := out.cut(s.Rank*n, n)
		have := own
		if !s.InPlace {
			have = Ref{In, 0, n}
		}
		for m := 1; m < s.Size; m *= 2 {
			peer := s.Rank ^ m
			d.send(peer, have)
			d.recv(peer, out.cut(peer&^(m-1)*n, m*n))
			if m == 1 {
				d.move(have, own)
			}
			d.wait()
			have = out.cut(s.Rank&^(2*m-1)*n, 2*m*n)
		}
		if s.Size == 1 {
			d.move(have, own)
		}
		return d.end()
	}}
