package coll

// interGather is linear, and Gatherv too: the blocks of the group that has not the
// root (MPI-4.0 §6.5).
var interGather = Algorithm{"inter-linear", between, func(s *Shape) Plan {
	var d draft
	switch s.Root {
	case RootHere:
		out := s.blocks(Out)
		for i := range s.Remote {
			d.recv(s.other(i), out.at(i))
		}
	case RootFellow:
	default:
		d.send(s.other(s.Root), Ref{In, 0, s.Count})
	}
	return d.end()
}}
