package coll

// interReduceScatter: each group reduces to its rank 0. The two exchange the
// results, and each scatters what it got. The vector is as long in both groups (MPI-4.0
// §6.10.1): that is how long In is, and a message between the two.
var interReduceScatter = Algorithm{"inter-reduce-then-scatter", between, func(s *Shape) Plan {
	var d draft
	at := s.starts()
	n, out := at[s.Size], s.result(at)
	sum := d.reduceHere(s, n)
	var theirs Ref
	if s.Rank == 0 {
		theirs = out
		if s.Size > 1 {
			theirs = d.temp(n)
		}
		d.send(s.other(0), sum)
		d.recv(s.other(0), theirs)
		d.wait()
	}
	d.deal(s, at, theirs, out)
	return d.end()
}}
