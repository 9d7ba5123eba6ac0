package coll

// reduceScatterTree reduces to rank 0, which scatters: fewer messages in a row than
// pairwise, and more bytes.
var reduceScatterTree = Algorithm{"reduce-then-scatter", within, func(s *Shape) Plan {
	var d draft
	at := s.starts()
	in, out := s.input(at[s.Size]), s.result(at)
	if s.Size == 1 {
		d.move(in, out)
		return d.end()
	}
	var sum Ref
	if s.Rank == 0 && s.InPlace {
		sum = in
	} else if s.Rank == 0 {
		sum = d.temp(in.N)
	}
	d.reduce(s, 0, in, sum)
	if s.InPlace {
		d.wait() // what is sent lies where the result comes
	}
	d.deal(s, at, sum, out)
	return d.end()
}}

// starts says where in the vector the block of each rank of the own group begins that it
// gets of the result, and where the last one ends.
func (s *Shape) starts() []int {
	at := make([]int, s.Size+1)
	for i := range s.Size {
		n := s.Count
		if s.Counts != nil {
			n = s.Counts[i]
		}
		at[i+1] = at[i] + n
	}
	return at
}

// result is where the rank's own block comes.
func (s *Shape) result(at []int) Ref { return Ref{Out, 0, at[s.Rank+1] - at[s.Rank]} }

// deal is scatter from rank 0 of blocks that begin at `at`.
func (d *draft) deal(s *Shape, at []int, from, out Ref) {
	me, all := s.Rank, from
	t := newTree(me, s.Size, 0)
	if me > 0 {
		all = out
		if below := t.below(me, t.reach); below > 1 {
			all = d.temp(at[me+below] - at[me])
		}
		d.recv(t.parent(), all)
		d.wait()
	}
	for m := t.reach / 2; m > 0; m /= 2 {
		if child := me + m; child < s.Size {
			end := child + t.below(child, m)
			d.send(child, all.cut(at[child]-at[me], at[end]-at[child]))
		}
	}
	d.move(all.cut(0, out.N), out)
}
