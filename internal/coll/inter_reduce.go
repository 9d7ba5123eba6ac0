package coll

// interReduce: the group that has not the root reduces to its rank 0, which sends
// to the root (MPI-4.0 §6.9.1).
var interReduce = Algorithm{"inter-binomial", between, func(s *Shape) Plan {
	var d draft
	switch s.Root {
	case RootHere:
		d.recv(s.other(0), Ref{Out, 0, s.Count})
	case RootFellow:
	default:
		sum := d.reduceHere(s, s.Count)
		if s.Rank == 0 {
			d.send(s.other(s.Root), sum)
		}
	}
	return d.end()
}}

// reduceHere reduces n elements of In to rank 0 of the own group, and returns where
// the result is: temporary memory, or In itself in a group of one.
func (d *draft) reduceHere(s *Shape, n int) (sum Ref) {
	in := Ref{In, 0, n}
	if s.Size == 1 {
		return in
	}
	if s.Rank == 0 {
		sum = d.temp(n)
	}
	d.reduce(s, 0, in, sum)
	return sum
}
