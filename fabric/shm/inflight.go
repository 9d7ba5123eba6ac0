package shm

import "sync/atomic"

// A Put, an Atomic and a Write write to the memory of a peer that may leave
// meanwhile and reuse it. The ring in which a rank sends to the peer has a word
// for that, offInFlight: how many of the rank's goroutines are in the middle of
// a write. A writer adds 1, then loads whether the peer has left; if not it
// writes, then subtracts 1. The peer stores that it has left, then waits until
// the word is 0 or the writer's process has ended. At least one of the two loads
// sees the other side's store, since sync/atomic is sequentially consistent:
// either nothing is written, or the peer waits for the write.

// mayWrite is called before each write to the peer's memory, and wrote after it,
// both with the ring to the peer. If mayWrite returns false the peer has left.
// Between them there is one copy and nothing that waits. For any goroutine.
func mayWrite(tx []byte, p *peerInfo) bool {
	// Pairs with peerWrites.
	atomic.AddUint32(word(tx, offInFlight), 1)
	if whyGone(tx) == 0 { // pairs with leave
		return true
	}
	wrote(tx, p)
	return false
}

// wrote also wakes a peer that has left meanwhile: it may sleep, and it loads
// the word in its Poll only. The last writer does.
func wrote(tx []byte, p *peerInfo) {
	// Pairs with peerWrites: a rank that sees 0 sees the bytes.
	left := atomic.AddUint32(word(tx, offInFlight), ^uint32(0))
	// Pairs with leave: either this load sees that, or peerWrites sees 0.
	if left == 0 && whyGone(tx) != 0 {
		ringBell(uintptr(p.bell))
	}
}

// whyGone returns why the receiver of a ring has left its sender, or 0.
func whyGone(tx []byte) uint32 { return atomic.LoadUint32(word(tx, offEnds+4)) }

// writeTo copies src to memory of the peer: through the mapping if there is one,
// else to an address in the peer's process. For any goroutine; src is at most
// one block, for which a peer that leaves waits.
func writeTo(tx []byte, p *peerInfo, mapped, src []byte, addr uint64) (err error) {
	if !mayWrite(tx, p) {
		return goneError(whyGone(tx))
	}
	if mapped != nil {
		copy(mapped, src)
	} else {
		err = writePeer(p.thread, addressOf(src), addr, len(src))
	}
	wrote(tx, p)
	return err
}

// peerWrites reports whether the sender of a ring is in the middle of a write to
// our memory. It is called after leave only.
func peerWrites(rx []byte) bool { return atomic.LoadUint32(word(rx, offInFlight)) != 0 }
