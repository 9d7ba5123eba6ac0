package group

// Incl is the members with the given ranks, in the order given (MPI_Group_incl,
// MPI-4.0 §7.3.2). A rank that is not one of m, or is there twice, is a RankError.
func (m *Map) Incl(ranks []int) (*Map, error) {
	if _, err := m.check(ranks); err != nil {
		return nil, err
	}
	return m.incl(ranks), nil
}

// Excl is the members but for those with the given ranks, in the order of m
// (MPI_Group_excl, MPI-4.0 §7.3.2). The errors are those of Incl.
func (m *Map) Excl(ranks []int) (*Map, error) {
	out, err := m.check(ranks)
	if err != nil {
		return nil, err
	}
	return m.excl(out), nil
}

// RangeIncl is the members whose ranks are in the ranges, in the order of these
// (MPI_Group_range_incl, MPI-4.0 §7.3.2). A rank that is not one of m, or is in two
// ranges, is a RankError; a Stride of 0 or in the wrong direction is a
// StrideError.
func (m *Map) RangeIncl(ranges []Range) (*Map, error) {
	ranks, _, err := m.expand(ranges)
	if err != nil {
		return nil, err
	}
	return m.incl(ranks), nil
}

// RangeExcl is the members but for those whose ranks are in the ranges, in the
// order of m (MPI_Group_range_excl, MPI-4.0 §7.3.2). The errors are those of
// RangeIncl.
func (m *Map) RangeExcl(ranges []Range) (*Map, error) {
	_, out, err := m.expand(ranges)
	if err != nil {
		return nil, err
	}
	return m.excl(out), nil
}

// incl is Incl of ranks that have been checked.
func (m *Map) incl(ranks []int) *Map {
	list := make([]int32, len(ranks))
	for i, r := range ranks {
		list[i] = int32(m.World(r))
	}
	return of(list)
}

// excl is the members whose ranks are not in out.
func (m *Map) excl(out set) *Map {
	var list []int32
	for i := range m.n {
		if !out.has(i) {
			list = append(list, int32(m.World(i)))
		}
	}
	return of(list)
}

// check returns the set of the ranks, all of them members' and none there twice.
func (m *Map) check(ranks []int) (set, error) {
	in := newSet(m.n)
	for i, r := range ranks {
		if r < 0 || r >= m.n {
			return nil, &RankError{Item: i, Rank: r, Size: m.n, Before: -1}
		}
		if in.has(r) {
			before := 0
			for ranks[before] != r {
				before++
			}
			return nil, &RankError{Item: i, Rank: r, Size: m.n, Before: before}
		}
		in.add(r)
	}
	return in, nil
}

// Range is the ranks First, First+Stride, First+2·Stride and so on that do not lie
// beyond Last. Stride is negative if Last is below First, and never 0.
type Range struct{ First, Last, Stride int }

// steps returns how many ranks follow the first one. The range has a stride that
// leads to its end. The subtractions may overflow: what is meant fits a uint.
func (r Range) steps() uint {
	if r.Stride > 0 {
		return uint(r.Last-r.First) / uint(r.Stride)
	}
	return uint(r.First-r.Last) / uint(-r.Stride)
}

// has reports whether a rank is in a range whose ranks are all members'.
func (r Range) has(rank int) bool {
	i := (rank - r.First) / r.Stride
	return i >= 0 && uint(i) <= r.steps() && r.First+i*r.Stride == rank
}

// expand returns the ranks of the ranges in their order, and as a set. They are all
// members' and none is there twice, so that there are at most as many as members.
func (m *Map) expand(ranges []Range) (ranks []int, in set, err error) {
	in = newSet(m.n)
	for i, r := range ranges {
		if r.Stride == 0 || r.First < r.Last && r.Stride < 0 || r.First > r.Last && r.Stride > 0 {
			return nil, nil, &StrideError{Item: i, Range: r}
		}
		if r.First < 0 || r.First >= m.n {
			return nil, nil, &RankError{Item: i, Rank: r.First, Size: m.n, Before: -1}
		}
		steps := r.steps()
		room := uint(m.n-1-r.First) / uint(max(r.Stride, 1)) // steps that end at a member
		if r.Stride < 0 {
			room = uint(r.First) / uint(-r.Stride)
		}
		if steps > room {
			return nil, nil, &RankError{Item: i, Rank: r.First + int(room+1)*r.Stride, Size: m.n, Before: -1}
		}
		for k := range int(steps) + 1 {
			rank := r.First + k*r.Stride
			if in.has(rank) {
				before := 0
				for !ranges[before].has(rank) {
					before++
				}
				return nil, nil, &RankError{Item: i, Rank: rank, Size: m.n, Before: before}
			}
			in.add(rank)
			ranks = append(ranks, rank)
		}
	}
	return ranks, in, nil
}

// set is a set of ranks, one bit for each member of a Map.
type set []uint64

func newSet(n int) set       { return make(set, (n+63)/64) }
func (s set) has(r int) bool { return s[r/64]>>(r%64)&1 != 0 }
func (s set) add(r int)      { s[r/64] |= 1 << (r % 64) }
