package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// A rank leaves its peers, one or all, by a word in the rings that it shares
// with them. Behind that word
//
//   - what a peer reads here counts no more: a reader looks at the word after
//     each copy (hasLeft);
//   - no peer begins to write here: it looks at the word after it has said that
//     it will (inflight.go);
//   - no helper begins a block of a transfer: its blocks are claimed (takeBack).
//
// What has begun before is waited for: by Close in place, for a peer that is
// ended alone by Poll (part).

// offLeft is the word of a control segment that counts the peers that have
// left. Which they are is in the rings.
const offLeft = 64

// Why a rank has left: what the words of a ring hold.
const (
	leftClosed = 1 // it has closed
	leftEnded  = 2 // it has ended this peer
)

// leave tells a peer that we leave it, and why. Behind it we neither write to nor
// read from the rings that we share, of which either may be missing.
//
// The stores pair with the loads in hasLeft and mayWrite. The add is an acquire,
// too, so what the caller stores into its memory afterwards stays behind them.
func leave(p *peerInfo, tx, rx []byte, why uint32) {
	if tx != nil {
		atomic.StoreUint32(word(tx, offEnds), why)
	}
	if rx != nil {
		atomic.StoreUint32(word(rx, offEnds+4), why)
	}
	atomic.AddUint32(word(p.control, offLeft), 1)
	ringBell(uintptr(p.bell))
}

// leave leaves the peer, once.
func (e *endpoint) leave(why uint32) {
	if e.info == nil || e.gone {
		return
	}
	e.gone = true
	leave(e.info, e.tx.mem, e.rxMem(), why)
}

func (e *endpoint) rxMem() []byte {
	if e.rx == nil {
		return nil
	}
	return e.rx.mem
}

// hasLeft reports whether the peer has begun to leave us. What was read from its
// memory before a LoadFence and a call that answers false was read in time.
//
// Where there is a ring to send in, its receiver's word counts: a peer has that
// ring from before we may use its memory.
func (e *endpoint) hasLeft() bool { return e.whyLeft() != 0 }

func (e *endpoint) whyLeft() uint32 {
	switch {
	case e.tx.mem != nil:
		return atomic.LoadUint32(word(e.tx.mem, offEnds+4))
	case e.rx != nil:
		return atomic.LoadUint32(word(e.rx.mem, offEnds))
	}
	return 0
}

// leftError is why the peer has left us, nil if it has not.
func (e *endpoint) leftError() error {
	switch e.whyLeft() {
	case 0:
		return nil
	case leftClosed:
		return fabric.ErrPeerLeft
	}
	return errEnded
}

var errEnded = fmt.Errorf("%w: it has given this rank up", fabric.ErrPeerDown)

// findLeft ends the peers that have left. One that has sent to us has given us
// its ring before that, so the ring is ours by the time that we have seen it
// leave and taken the news after that.
func (d *Domain) findLeft() {
	d.leftSeen = atomic.LoadUint32(d.left)
	for _, e := range d.peers {
		if e != nil {
			e.left = e.hasLeft()
		}
	}
	d.takeEvents()
	for _, e := range d.peers {
		if e != nil && e.left {
			d.die(e, fabric.ErrPeerLeft)
		}
	}
}

// End ends a peer for a reason of the engine's. See fabric.Domain.
func (d *Domain) End(p fabric.Peer, err error) bool {
	if d.closed.Load() || int(p) >= len(d.peers) {
		return false
	}
	e := d.endpoint(p)
	if e.down != nil {
		return false
	}
	d.cut(e, err)
	if e.quiet() {
		d.endStopped(e)
		return false
	}
	d.parting = append(d.parting, e)
	return true
}

// fail ends a peer. PeerDown follows as soon as nothing of the peer's can land in
// our memory: at once, or in a later Poll.
func (d *Domain) fail(e *endpoint, err error) {
	if e.down != nil {
		return
	}
	d.cut(e, err)
	d.parting = append(d.parting, e)
	d.part()
}

// cut leaves a peer, which may be alive: nothing is taken from it any more, and
// its operations are not moved on.
func (d *Domain) cut(e *endpoint, err error) {
	d.takeLast(e)
	if e.dying != nil {
		d.dying--
	}
	e.down, e.dying, e.up = err, nil, false
	if e.rx != nil {
		e.rx.sever()
	}
	d.stopHelping(e)
	e.leave(leftEnded)
	d.stopTransfers(e)
}

// endStopped ends the operations of a peer that is quiet.
func (d *Domain) endStopped(e *endpoint) {
	for _, j := range e.stopped {
		e.ended(j, e.down)
	}
	e.stopped = nil
}

// stopHelping answers the requests for help of a peer, or of all (nil).
func (d *Domain) stopHelping(e *endpoint) {
	helps := d.helps[:0]
	for _, j := range d.helps {
		if e != nil && j.e != e {
			helps = append(helps, j)
		} else {
			j.answer(coopAnswered) // the peer may live, and wait
		}
	}
	clear(d.helps[len(helps):])
	d.helps = helps
}

// stopTransfers takes the transfers with a peer, or with all (nil), out of the
// list of those that are moved on, and back from their helpers.
func (d *Domain) stopTransfers(e *endpoint) {
	jobs := d.jobs[:0]
	for _, j := range d.jobs {
		if e != nil && j.e != e {
			jobs = append(jobs, j)
			continue
		}
		j.takeBack()
		j.e.stopped = append(j.e.stopped, j)
	}
	clear(d.jobs[len(jobs):])
	d.jobs = jobs
}

// part tells of the end of the peers that were ended, and answers of how many.
// A helper rings when it has moved its block, a writer when it has written, the
// doorbell when a process has ended.
func (d *Domain) part() int {
	still := d.parting[:0]
	for _, e := range d.parting {
		if !e.quiet() {
			still = append(still, e)
			continue
		}
		d.endStopped(e)
		d.done = append(d.done, completion{peer: e.peer, err: e.down, down: true})
	}
	n := len(d.parting) - len(still)
	clear(d.parting[len(still):])
	d.parting = still
	return n
}

// quiet reports whether nothing of a peer that we have left can land in our
// memory any more. A peer that has left us is in the middle of nothing.
func (e *endpoint) quiet() bool {
	if e.info == nil || e.died || e.hasLeft() {
		return true
	}
	if rx := e.rxMem(); rx != nil && peerWrites(rx) {
		return false
	}
	for _, j := range e.stopped {
		if !j.settled() {
			return false
		}
	}
	return true
}
