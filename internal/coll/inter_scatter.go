package coll

// interScatter is linear, and Scatterv too: the blocks go to the group that has not
// the root (MPI-4.0 §6.6).
var interScatter = Algorithm{"inter-linear", between, func(s *Shape) Plan {
	var d draft
	switch s.Root {
	case RootHere:
		in := s.blocks(In)
		for i := range s.Remote {
			d.send(s.other(i), in.at(i))
		}
	case RootFellow:
	default:
		d.recv(s.other(s.Root), Ref{Out, 0, s.Count})
	}
	return d.end()
}}
