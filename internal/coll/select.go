package coll

// A rule prefers an algorithm where its bounds hold and the algorithm fits.
type rule struct {
	*Algorithm
	ranks int // at least so many in the group
	bytes int // at most so many are Count elements; 0: any number
}

// rules has each call's algorithms, the preferred first. The last of those that fit
// a shape has no bounds. Calls whose Count is not alike at all ranks have no bound
// of bytes.
var rules = [...][]rule{
	Barrier:            {{&barrierDissemination, 0, 0}, {&interBarrier, 0, 0}},
	Bcast:              {{&bcastBinomial, 0, 0}, {&interBcast, 0, 0}},
	Gather:             {{&gatherBinomial, 0, 2 << 10}, {&gatherLinear, 0, 0}, {&interGather, 0, 0}},
	Gatherv:            {{&gatherLinear, 0, 0}, {&interGather, 0, 0}},
	Scatter:            {{&scatterBinomial, 0, 2 << 10}, {&scatterLinear, 0, 0}, {&interScatter, 0, 0}},
	Scatterv:           {{&scatterLinear, 0, 0}, {&interScatter, 0, 0}},
	Allgather:          {{&allgatherRD, 0, 64 << 10}, {&allgatherRing, 0, 0}, {&interAllgather, 0, 0}},
	Allgatherv:         {{&allgatherRing, 0, 0}, {&interAllgather, 0, 0}},
	Alltoall:           {{&alltoallLinear, 3, 2 << 10}, {&alltoallPairwise, 0, 0}, {&alltoallInPlace, 0, 0}, {&interAlltoall, 0, 0}},
	Alltoallv:          {{&alltoallPairwise, 0, 0}, {&alltoallInPlace, 0, 0}, {&interAlltoall, 0, 0}},
	Reduce:             {{&reduceBinomial, 0, 0}, {&interReduce, 0, 0}},
	Allreduce:          {{&allreduceRD, 0, 32 << 10}, {&allreduceHalving, 0, 0}, {&interAllreduce, 0, 0}},
	ReduceScatterBlock: {{&reduceScatterTree, 5, 256}, {&reduceScatterPairwise, 0, 0}, {&interReduceScatter, 0, 0}},
	Scan:               {{&scanDoubling, 0, 0}},
	Exscan:             {{&exscan123, 0, 0}},
	Alltoallw:          {{&alltoallPairwise, 0, 0}, {&alltoallInPlace, 0, 0}, {&interAlltoall, 0, 0}},
	ReduceScatter:      {{&reduceScatterTree, 5, 2 << 10}, {&reduceScatterPairwise, 0, 0}, {&interReduceScatter, 0, 0}},
	NeighborAllgather:  {{&neighborsGather, 0, 0}},
	NeighborAllgatherv: {{&neighborsGather, 0, 0}},
	NeighborAlltoall:   {{&neighborsExchange, 0, 0}},
	NeighborAlltoallv:  {{&neighborsExchange, 0, 0}},
	NeighborAlltoallw:  {{&neighborsExchange, 0, 0}},
}

// Algorithms returns the algorithms of a call, the preferred first. The caller may
// not change them.
func Algorithms(call Call) []*Algorithm {
	var all []*Algorithm
	for _, r := range rules[call] {
		all = append(all, r.Algorithm)
	}
	return all
}

// choose returns the place of the algorithm for a call among the call's, the same at
// all ranks: -1 where MPI does not define the call, Scan and Exscan between two groups.
func choose(call Call, s *Shape) int {
	for i, r := range rules[call] {
		if s.Size >= r.ranks && (r.bytes == 0 || s.Count*s.Bytes <= r.bytes) && r.Fits(s) {
			return i
		}
	}
	return -1
}

// Make returns the plan of a call that MPI defines.
func Make(call Call, s *Shape) Plan {
	i := choose(call, s)
	p := rules[call][i].Plan(s)
	if s.Gaps != 0 {
		p = p.withGaps(s.Gaps, shortGaps/max(s.Bytes, 1))
	}
	p.By, p.Alike = uint8(i), alike(call, s)
	return p
}

// within and between tell calls within a group from calls between two.
func within(s *Shape) bool { return s.Remote == 0 }

func between(s *Shape) bool { return s.Remote > 0 }
