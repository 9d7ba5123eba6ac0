package shm

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

// A ring grows from the first ring of its segment to the full one when its
// producer finds no room. The producer allocates the pages of the full ring,
// sends a message of the transport's own as the last of the first ring, and
// continues at the beginning of the full one. The consumer follows when it takes
// that message. Neither waits for the other, and nothing is copied. A ring grows
// once.
//
// The counts of both sides begin at 0 again, and the consumer's count has a line
// of its own in each ring. So no position or control word of one ring is taken
// for one of the other.

// hasteFor is the share of a rank in a job of so many, and whether that is enough
// for all its rings.
func hasteFor(ranks int) (bytes int, all bool) {
	bytes = forHaste / ranks
	return bytes, (ranks-1)*segmentFor(ranks) <= bytes
}

// newRing is how a ring begins.
func (d *Domain) newRing(mem []byte) ringMem {
	if d.full {
		return fullRing(mem)
	}
	return firstRing(mem)
}

// ringStart is how many of a ring's bytes are used from the beginning.
func (d *Domain) ringStart(size int) int {
	if d.full {
		return size
	}
	return offLines
}

// haste decides when a producer's ring grows, if it has not yet.
type haste struct {
	hasty bool   // as soon as the consumer's line had to be read
	again uint64 // not before this position, since growing has failed
}

// mayGrow reports whether the ring would grow if it were full.
func (p *producer) mayGrow() bool { return p.first && p.tail >= p.again }

// grow allocates the pages of the full ring and switches to it, or changes
// nothing. The first ring always has a line left for the message: limit reserves
// it.
func (p *producer) grow() error {
	p.hasty = false
	if err := populate(p.mem); err != nil {
		p.again = p.tail + untilRetry
		return err
	}
	p.line(p.tail).publish(control(p.tail, internalGrown, 0, 0)|ctlInternal, p.fenced)
	p.ringMem = fullRing(p.mem)
	p.tail, p.payTail, p.seen, p.paySeen = 0, 0, 0, 0
	return nil
}

// grow follows the producer. Pages that the producer has not allocated are
// allocated here: a read of a page that can't be allocated would kill this
// process.
func (c *consumer) grow() error {
	if err := populate(c.mem); err != nil {
		return err
	}
	c.ringMem = fullRing(c.mem)
	c.head, c.payHead, c.told, c.payTold = 0, 0, 0, 0
	return nil
}

// enlarge is called when the ring has not accepted a message, and reports
// whether to try again.
func (e *endpoint) enlarge() bool {
	p := &e.tx
	if !p.mayGrow() || p.scribbled() {
		return false
	}
	hasty := p.hasty
	if hasty && e.d.haste < len(p.mem) {
		p.hasty = false
		return true // the consumer's line has not been read yet
	}
	if err := p.grow(); err != nil {
		e.d.growOnce.Do(func() {
			e.d.cfg.Log.Warn("shm: a ring can't grow, messages to the rank go through a small one, more slowly",
				"rank", e.peer, "err", err)
		})
		return hasty // as above
	}
	if hasty {
		e.d.haste -= len(p.mem)
	}
	return true
}

// grown takes the message that a ring has grown.
func (d *Domain) grown(r *inbound) {
	if !r.first {
		d.corrupt(r, internalGrown<<ctlKindShift|ctlInternal)
		return
	}
	if err := r.grow(); err != nil {
		d.fail(r.peer, &fabric.Error{Op: "receive over shared memory", Peer: r.peer.peer, HasPeer: true,
			Err: fmt.Errorf("%w: its ring has grown without memory: %w", fabric.ErrPeerDown, err)})
	}
}
