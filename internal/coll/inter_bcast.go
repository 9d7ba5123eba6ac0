package coll

// interBcast: the root sends to rank 0 of the other group, which has the tree of
// its group send it on. The root's own group does nothing more (MPI-4.0 §6.4).
var interBcast = Algorithm{"inter-binomial", between, func(s *Shape) Plan {
	var d draft
	switch s.Root {
	case RootHere:
		d.send(s.other(0), Ref{In, 0, s.Count})
	case RootFellow:
	default:
		buf := Ref{Out, 0, s.Count}
		if s.Rank == 0 {
			d.recv(s.other(s.Root), buf)
			d.wait()
		}
		d.bcast(s.Rank, s.Size, 0, buf)
	}
	return d.end()
}}

// other is the Peer of a Step that is a rank of the other group.
func (s *Shape) other(rank int) int { return s.Size + rank }
