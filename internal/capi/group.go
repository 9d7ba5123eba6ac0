package capi

import "github.com/weft-mpi/weft/mpi"

// Groups (MPI-5.0 §7.3).

func groupSize(a *Args) error {
	a.setInt(1, a.group(0).Size())
	return nil
}

func groupRank(a *Args) error {
	a.setInt(1, a.group(0).Rank())
	return nil
}

// groupTranslateRanks is MPI_Group_translate_ranks, which may not be asked for ranks that
// its first group does not have.
func groupTranslateRanks(a *Args) error {
	from, n := a.group(0), a.int(1)
	ranks, err := a.list(2, n)
	if err != nil {
		return err
	}
	for _, r := range ranks {
		if uint(r) >= uint(from.Size()) && r != mpi.ProcNull {
			return fail(mpi.ErrRank, "rank %d is not in the first group, of %d ranks", r, from.Size())
		}
	}
	return a.setList(4, from.Translate(ranks, a.group(3)), n)
}

func groupCompare(a *Args) error {
	how, err := a.group(0).Compare(a.group(1))
	if err == nil {
		a.setInt(2, int(how))
	}
	return err
}

func commGroup(a *Args) error { return a.setGroup(1, a.comm(0).Group()) }

func commRemoteGroup(a *Args) error {
	g := a.comm(0).RemoteGroup()
	if g == nil {
		return fail(mpi.ErrComm, "the communicator is no intercommunicator, so it has no remote group")
	}
	return a.setGroup(1, g)
}

func groupFromSessionPset(a *Args) error {
	g, err := a.session(0).Group(a.string(1))
	return a.madeGroup(2, g, err)
}

func groupUnion(a *Args) error        { return a.joined((*mpi.Group).Union) }
func groupIntersection(a *Args) error { return a.joined((*mpi.Group).Intersection) }
func groupDifference(a *Args) error   { return a.joined((*mpi.Group).Difference) }

func (a *Args) joined(join func(g, other *mpi.Group) (*mpi.Group, error)) error {
	g, err := join(a.group(0), a.group(1))
	return a.madeGroup(2, g, err)
}

func groupIncl(a *Args) error { return a.picked((*mpi.Group).Incl) }
func groupExcl(a *Args) error { return a.picked((*mpi.Group).Excl) }

func (a *Args) picked(pick func(g *mpi.Group, ranks ...int) (*mpi.Group, error)) error {
	ranks, err := a.members(1)
	if err != nil {
		return err
	}
	g, err := pick(a.group(0), ranks...)
	return a.madeGroup(3, g, err)
}

// members is an array of elements of k numbers, each of which names one member of group 0
// at least, and none twice.
func (a *Args) members(k int) ([]int, error) {
	n, size := a.int(1), a.group(0).Size()
	if n > size {
		return nil, fail(mpi.ErrRank, "%d elements for a group of %d ranks, each of which can be named once", n, size)
	}
	return a.list(2, k*n)
}

func groupRangeIncl(a *Args) error { return a.ranged((*mpi.Group).RangeIncl) }
func groupRangeExcl(a *Args) error { return a.ranged((*mpi.Group).RangeExcl) }

func (a *Args) ranged(pick func(g *mpi.Group, ranges ...mpi.Range) (*mpi.Group, error)) error {
	numbers, err := a.members(3)
	if err != nil {
		return err
	}
	ranges := make([]mpi.Range, len(numbers)/3)
	for i := range ranges {
		ranges[i] = mpi.Range{First: numbers[3*i], Last: numbers[3*i+1], Stride: numbers[3*i+2]}
	}
	g, err := pick(a.group(0), ranges...)
	return a.madeGroup(3, g, err)
}

// groupFree is MPI_Group_free. MPI_GROUP_EMPTY stays: it is what calls return for a group
// without ranks, so programs free it as any other.
func groupFree(a *Args) error {
	if p := a.handleAt(0); *p == groupEmpty {
		*p = groupNull
		return nil
	}
	drop(a, 0, groups, groupNull)
	return nil
}
