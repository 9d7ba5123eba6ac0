package coll

// interAlltoall is pairwise, and Alltoallv and Alltoallw too. The smaller group takes part as if
// it had as many ranks as the larger one (MPI-4.0 §6.8).
var interAlltoall = Algorithm{"inter-pairwise", between, func(s *Shape) Plan {
	var d draft
	in, out := s.blocks(In), s.arriving()
	ranks := max(s.Size, s.Remote)
	for i := range ranks {
		from, to := (s.Rank-i+ranks)%ranks, (s.Rank+i)%ranks
		if from < s.Remote {
			d.recv(s.other(from), out.at(from))
		}
		if to < s.Remote {
			d.send(s.other(to), in.at(to))
		}
		d.wait()
	}
	return d.end()
}}
