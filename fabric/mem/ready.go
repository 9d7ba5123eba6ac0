package mem

import (
	"math/bits"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// ready is the set of peers that a domain's Poll checks, so that an idle one
// costs two loads however many peers there are. A peer is in it once it has sent
// something, and stays there for a while: finding a queue empty costs less than
// leaving the set and coming back. The zero value has no peers.
type ready struct {
	// shared is one bit for each peer, after a word, the summary, that says
	// which words have a new one. Its bit k is for words k, k+64, and so on.
	//
	// A peer publishes, loads its bit and sets it if it is clear. The owner
	// clears the bit and then checks the peer's queue. One of the two sees the
	// other: either the owner finds the message or the bit is set after it was
	// cleared. In the same way the peer sets its bit and then loads the summary,
	// and the owner clears the summary and then loads the bits.
	shared []atomic.Uint64

	// The owner's.
	todo  []uint64 // peers to check; each has its bit in shared, or has had it
	count int      // of todo
}

const (
	// maxWatched bounds the peers with nothing new that stay in the set.
	maxWatched = 8
	// maxVain is after how many empty checks one of them leaves it.
	maxVain = 32
)

func newReady(size int) ready {
	words := (size + 63) / 64
	// Two cache lines at least, so that no two domains share one.
	return ready{shared: make([]atomic.Uint64, max(1+words, 16)), todo: make([]uint64, words)}
}

// mark puts peer p in the set; p's owner calls it after it has published.
func (r *ready) mark(p fabric.Peer) {
	word, bit := p/64, uint64(1)<<(p%64)
	bits := &r.shared[1+word]
	if bits.Load()&bit != 0 {
		return
	}
	bits.Or(bit)
	if bit = 1 << (word % 64); r.shared[0].Load()&bit == 0 {
		r.shared[0].Or(bit)
	}
}

// collect adds the peers marked since the last time to todo.
func (r *ready) collect() {
	if r.shared[0].Load() == 0 {
		return
	}
	for some := r.shared[0].Swap(0); some != 0; some &= some - 1 {
		for i := bits.TrailingZeros64(some); i < len(r.todo); i += 64 {
			if come := r.shared[1+i].Load() &^ r.todo[i]; come != 0 {
				r.todo[i] |= come
				r.count += bits.OnesCount64(come)
			}
		}
	}
}

// remove takes p out, before the check that may be the last.
func (r *ready) remove(p int) {
	r.shared[1+p/64].And(^(uint64(1) << (p % 64)))
	r.todo[p/64] &^= 1 << (p % 64)
	r.count--
}

// restore puts p back, which may have published more than was taken.
func (r *ready) restore(p int) {
	if bit := uint64(1) << (p % 64); r.todo[p/64]&bit == 0 {
		r.todo[p/64] |= bit
		r.count++
	}
}

// next returns the first peer of todo from lo to below hi, or -1.
func (r *ready) next(lo, hi int) int {
	for lo < hi {
		if some := r.todo[lo/64] >> (lo % 64); some != 0 {
			if lo += bits.TrailingZeros64(some); lo < hi {
				return lo
			}
			return -1
		}
		lo = lo&^63 + 64
	}
	return -1
}
