package coll

// Neighbors are a rank's in a topology (MPI-4.0 §8.6). Each list has a rank, or a negative
// number for no neighbor, for each slot: the blocks of Out come from the ranks of Sources,
// in their order, and those of In go to the ranks of Dests.
type Neighbors struct {
	Sources, Dests []int
	// Crossed is for Cartesian topologies, in which both lists are one: what is sent from
	// a slot arrives at that in the other direction of the same dimension, so that of slot 2d
	// at 2d+1, and back. A pair of ranks may be neighbors several times, in a periodic
	// dimension of 1 or 2. In other topologies the k-th block from one rank to another is
	// the k-th that this one receives from it.
	Crossed bool
}

// arrival is the slot of Sources that takes the k-th message: messages of a pair of ranks
// come in the order in which they are sent, that of the sender's slots.
func (n *Neighbors) arrival(k int) int {
	if n.Crossed {
		return k ^ 1
	}
	return k
}

// neighborsGather sends all neighbors one block, neighborsExchange one each.
var (
	neighborsGather   = Algorithm{"linear", within, func(s *Shape) Plan { return s.toNeighbors(func(int) Ref { return Ref{In, 0, s.Count} }) }}
	neighborsExchange = Algorithm{"linear", within, func(s *Shape) Plan { return s.toNeighbors(s.blocks(In).at) }}
)

// toNeighbors has a message for each edge, all under way at once. What the rank sends
// itself is copied.
func (s *Shape) toNeighbors(leaves func(slot int) Ref) Plan {
	var d draft
	if s.Near == nil {
		return d.end()
	}
	n, out := s.Near, blocks{Out, s.RecvCount, s.RecvCounts, s.RecvDispls}
	var own []Ref // where what the rank sends itself arrives
	for k := range n.Sources {
		slot := n.arrival(k)
		switch from := n.Sources[slot]; {
		case from == s.Rank:
			own = append(own, out.at(slot))
		case from >= 0:
			d.recv(from, out.at(slot))
		}
	}
	for slot, to := range n.Dests {
		switch {
		case to < 0:
		case to != s.Rank:
			d.send(to, leaves(slot))
		case len(own) > 0 && own[0].N == leaves(slot).N:
			d.move(leaves(slot), own[0])
			own = own[1:]
		default: // two lengths: the receive says so
			d.send(to, leaves(slot))
			if len(own) > 0 {
				d.recv(to, own[0])
				own = own[1:]
			}
		}
	}
	return d.end()
}
