package coll

// alltoallLinear has all messages under way at once.
var alltoallLinear = Algorithm{"linear",
	func(s *Shape) bool { return within(s) && !s.InPlace },
	func(s *Shape) Plan {
		var d draft
		in, out := s.blocks(In), s.arriving()
		for i := 1; i < s.Size; i++ {
			d.recv(s.left(i), out.at(s.left(i)))
		}
		for i := 1; i < s.Size; i++ {
			d.send(s.right(i), in.at(s.right(i)))
		}
		d.move(in.at(s.Rank), out.at(s.Rank))
		return d.end()
	}}
