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

// Own returns the slots of Dests and of Sources between which a rank sends itself blocks,
// which are equally long.
func (n *Neighbors) Own(rank int) (slots [][2]int) {
	for slot, to := range n.Dests {
		if to == rank {
			slots = append(slots, [2]int{slot, -1})
		}
	}
	own := slots
	for k := range n.Sources {
		if slot := n.arrival(k); n.Sources[slot] == rank && len(own) > 0 {
			own[0][1] = slot
			own = own[1:]
		}
	}
	return slots[:len(slots)-len(own)]
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
	for k := range n.Sources {
		if slot := n.arrival(k); n.Sources[slot] >= 0 && n.Sources[slot] != s.Rank {
			d.recv(n.Sources[slot], out.at(slot))
		}
	}
	for slot, to := range n.Dests {
		if to >= 0 && to != s.Rank {
			d.send(to, leaves(slot))
		}
	}
	for _, own := range n.Own(s.Rank) {
		d.move(leaves(own[0]), out.at(own[1]))
	}
	return d.end()
}
