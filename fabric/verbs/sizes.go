package verbs

// sizes are how the receive slots are shared out.
type sizes struct{ window, slots int }

// sizesFor gives each peer as many slots as make 1,024 in all, from 2 to 128.
func sizesFor(ranks, maxSRQ int) sizes {
	peers := max(ranks-1, 1)
	s := sizes{window: min(max(1024/peers, 2), 128)}
	s.slots = s.window*peers + recvRing/8
	if maxSRQ > 0 && s.slots > maxSRQ {
		s.slots = maxSRQ
		s.window = max(maxSRQ/peers, 1)
	}
	return s
}

// spare is how many slots may lie idle, because peers have no credit for them.
func (s sizes) spare(ranks int) int {
	return min(max(s.slots-s.window*max(ranks-1, 1), 0), recvRing/8)
}

// queueMemory is what the queues of a rank pin, in bytes.
func queueMemory(ranks int) uint64 {
	return uint64(sizesFor(ranks, 0).slots+sendSlots)*slotSize + fenceSize + uint64(8*ranks)
}
