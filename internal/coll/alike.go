package coll

// Alike is what all ranks of a call give alike, in 56 bits: the root, and the bytes
// that each of them names. Ranks whose values differ have made calls that do not
// match. It saturates: roots from a million on, and lengths from 64 GB on, are not
// told from one another. In place of a root a ReduceScatter has a number that depends on its
// counts, as these may differ where their sums do not.
type Alike uint64

const (
	alikeBytes = 36 // bits of the length
	alikeRoot  = 20
)

// alike is that of a call. Between two groups the ranks of each give values of their
// own, and so they do in the v-forms, but for the root.
func alike(call Call, s *Shape) (a Alike) {
	if between(s) {
		return 0
	}
	switch call {
	case Bcast, Gather, Gatherv, Scatter, Scatterv, Reduce:
		a = Alike(min(s.Root+1, 1<<alikeRoot-1)) << alikeBytes
	case ReduceScatter:
		h := uint64(1)
		for _, n := range s.Counts {
			h = (h ^ uint64(n)) * 0x9e3779b97f4a7c15
			h ^= h >> 32
		}
		a = Alike(h>>(64-alikeRoot)|1) << alikeBytes
	}
	switch call {
	case Barrier, Gatherv, Scatterv, Allgatherv, Alltoallv, Alltoallw:
		return a
	}
	if call.Near() { // ranks that are no neighbors need not agree
		return a
	}
	return a | Alike(min(s.Count*s.Bytes+1, 1<<alikeBytes-1))
}

// Root returns the root, if the call has one, and of a ReduceScatter what depends on its
// counts.
func (a Alike) Root() (root int, ok bool) {
	r := int(a >> alikeBytes & (1<<alikeRoot - 1))
	return r - 1, r > 0
}

// Bytes returns the length of the vector or of a block, if the ranks give it alike.
func (a Alike) Bytes() (n int, ok bool) {
	n = int(a & (1<<alikeBytes - 1))
	return n - 1, n > 0
}

// Blocks reports whether the call's Count is the length of one rank's block.
func (c Call) Blocks() bool {
	switch c {
	case Gather, Scatter, Allgather, Alltoall, ReduceScatterBlock:
		return true
	}
	return false
}

// Near reports whether the call is one of neighborhoods.
func (c Call) Near() bool { return c >= NeighborAllgather && c <= NeighborAlltoallw }

// FromRoot reports whether the call's data come from a root.
func (c Call) FromRoot() bool { return c == Bcast || c == Scatter || c == Scatterv }
