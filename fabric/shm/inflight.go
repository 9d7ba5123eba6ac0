package shm

import "sync/atomic"

// A Put and an Atomic write to the memory of a peer that may leave meanwhile and
// reuse it. The ring in which a rank sends to the peer has a word for that,
// offInFlight. The writer stores 1, then loads whether the peer has left; if not
// it writes, then stores 0. The peer stores that it has left, then waits until
// the word is 0 or the writer's process has ended. At least one of the two loads
// sees the other side's store, since sync/atomic is sequentially consistent:
// either nothing is written, or the peer waits for the write.

// mayWrite is called before each write to the peer's memory, and wrote after it.
// If mayWrite returns false the peer has left. Between them there is one copy
// and nothing that waits.
func (e *endpoint) mayWrite() bool {
	// Pairs with peerWrites.
	atomic.StoreUint32(word(e.tx.mem, offInFlight), 1)
	if !e.hasLeft() { // pairs with leave
		return true
	}
	e.wrote()
	return false
}

// wrote also wakes a peer that has left meanwhile: it may sleep, and it loads
// the word in its Poll only.
func (e *endpoint) wrote() {
	// Pairs with peerWrites: a rank that sees 0 sees the bytes.
	atomic.StoreUint32(word(e.tx.mem, offInFlight), 0)
	// Pairs with leave: either this load sees that, or peerWrites sees 0.
	if e.hasLeft() {
		ringBell(uintptr(e.info.bell))
	}
}

// peerWrites reports whether the sender of a ring is in the middle of a write to
// our memory. It is called after leave only.
func peerWrites(rx []byte) bool { return atomic.LoadUint32(word(rx, offInFlight)) != 0 }
