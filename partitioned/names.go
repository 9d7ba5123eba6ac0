package partitioned

import "github.com/weft-mpi/weft/fabric"

// names finds the sides that peers name. A name is a slot and how often the slot
// has been used, so the name of a side that is gone names nothing.
type names struct {
	slots []named
	spare []uint32
}

type named struct {
	use uint32
	s   *side
}

func (n *names) add(s *side) uint64 {
	var at uint32
	if last := len(n.spare) - 1; last >= 0 {
		at = n.spare[last]
		n.spare = n.spare[:last]
	} else {
		at = uint32(len(n.slots))
		n.slots = append(n.slots, named{})
	}
	x := &n.slots[at]
	if x.use++; x.use == 0 {
		x.use = 1 // no name is 0
	}
	x.s = s
	return uint64(x.use)<<32 | uint64(at)
}

func (n *names) remove(name uint64) {
	at := uint32(name)
	n.slots[at].s = nil
	n.spare = append(n.spare, at)
}

// find returns the side of that name if its peer is from, or nil.
func (n *names) find(name uint64, from fabric.Peer) *side {
	at := uint32(name)
	if int64(at) >= int64(len(n.slots)) {
		return nil
	}
	if x := n.slots[at]; x.s != nil && x.use == uint32(name>>32) && x.s.peer == int32(from) {
		return x.s
	}
	return nil
}

func (n *names) send(name uint64, from fabric.Peer) *Send {
	if s := n.find(name, from); s != nil {
		return s.send
	}
	return nil
}

func (n *names) recv(name uint64, from fabric.Peer) *Recv {
	if s := n.find(name, from); s != nil {
		return s.recv
	}
	return nil
}

func (n *names) each(f func(*side)) {
	for i := range n.slots {
		if s := n.slots[i].s; s != nil {
			f(s)
		}
	}
}
