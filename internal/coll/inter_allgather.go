package coll

// interAllgather is Allgatherv too: every rank gets the blocks of the other group
// (MPI-4.0 §6.7). Its rank i sends to rank i modulo the number of ranks here. Then
// the blocks go around here in a ring, as in allgatherRing. So each block crosses
// between the groups once.
var interAllgather = Algorithm{"inter-ring", between, func(s *Shape) Plan {
	var d draft
	d.send(s.other(s.Rank%s.Remote), Ref{In, 0, s.Count})
	out := s.arriving()
	if s.Counts != nil {
		out = s.blocks(Out)
	}
	for i := s.Rank; i < s.Remote; i += s.Size {
		d.recv(s.other(i), out.at(i))
	}
	d.wait()
	for by := range s.Size - 1 {
		for i := s.left(by); i < s.Remote; i += s.Size {
			d.send(s.right(1), out.at(i))
		}
		for i := s.left(by + 1); i < s.Remote; i += s.Size {
			d.recv(s.left(1), out.at(i))
		}
		d.wait()
	}
	return d.end()
}}
