package coll

// interAllreduce: each group reduces to its rank 0. The two exchange the results
// and have their groups' trees send on what they got (MPI-4.0 §6.9.6).
var interAllreduce = Algorithm{"inter-binomial", between, func(s *Shape) Plan {
	var d draft
	out := Ref{Out, 0, s.Count}
	sum := d.reduceHere(s, s.Count)
	if s.Rank == 0 {
		d.send(s.other(0), sum)
		d.recv(s.other(0), out)
		d.wait()
	}
	d.bcast(s.Rank, s.Size, 0, out)
	return d.end()
}}
