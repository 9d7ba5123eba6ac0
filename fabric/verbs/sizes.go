package verbs

import "github.com/weft-mpi/weft/fabric/verbs/internal/ibv"

// sizes are how the receive slots are shared out.
type sizes struct{ window, slots int }

// sizesFor gives each peer as many slots as make slotsWanted in all.
func sizesFor(ranks, maxSRQ int) sizes {
	peers := max(ranks-1, 1)
	s := sizes{window: min(max(slotsWanted/peers, windowMin), windowMax)}
	s.slots = s.window*peers + ibv.MaxRecvs/8
	if maxSRQ > 0 && s.slots > maxSRQ {
		s.slots = maxSRQ
		s.window = max(maxSRQ/peers, 1)
	}
	return s
}

// spare is how many slots may lie idle, because peers have no credit for them.
func (s sizes) spare(ranks int) int {
	return min(max(s.slots-s.window*max(ranks-1, 1), 0), ibv.MaxRecvs/8)
}

// queueMemory is what the queues of a rank pin, in bytes.
func queueMemory(ranks int) uint64 {
	return uint64(sizesFor(ranks, 0).slots+sendSlots)*slotSize + fenceSize + uint64(8*ranks)
}
