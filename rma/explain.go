package rma

import "fmt"

// Way tells in words how this rank's operations with the part of a rank go, and why, and
// how it takes the lock there. For anyone. Local.
func (w *Win) Way(rank int) (words string) {
	t := &w.targets[rank]
	w.e.loop.Exclusive(func() { words = t.way() + "; " + t.lockWay() })
	if rank == w.rank && !w.e.loop.Threaded() {
		words += "; packets of others wait for calls of this rank, as it has no progress thread"
	}
	return words
}

// way is that of operations. For the owner.
func (t *target) way() string {
	own := t.rank == t.w.rank
	switch {
	case own && t.w.check != nil:
		return "the calls themselves carry operations out on the public copy, as the window has separate memory to check accesses"
	case t.w.check != nil:
		return "packets, as the window has separate memory to check accesses"
	case own && t.w.dynamic:
		return "the calls themselves carry operations out, as this is the own memory"
	case own:
		return "loads and stores, as this is the own memory"
	case t.w.dynamic:
		return "packets, as the library at the target has to look up what is attached there"
	case t.mem != nil:
		return "loads and stores, as this rank reaches the memory; packets for accumulates of elements that no instruction changes at once"
	case !t.caps.Put || !t.caps.Get:
		return "packets, as the fabric has no Put and Get"
	case t.memory.Len < uint64(t.size):
		return "packets, as the target's memory could not be registered with the fabric"
	case t.packets:
		return "packets, as the fabric has refused a Put or Get"
	case t.caps.Reach:
		return "Put and Get of the fabric, as the memory is not of WinAllocate or Alloc; " + t.besides()
	}
	return "Put and Get of the fabric, as it joins no memory of ranks; " + t.besides()
}

// besides is what goes in packets where the fabric has Put and Get.
func (t *target) besides() string {
	return fmt.Sprintf("packets for accumulates, and for datatypes of more than %d pieces of less than %d bytes on average", fewPieces, t.caps.Chunk)
}

// lockWay is that of locks.
func (t *target) lockWay() string {
	if t.lines != nil {
		return "locks by loads and stores"
	}
	return "locks by packets"
}
