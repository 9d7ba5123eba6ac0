package shm

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// A rank leaves its peers, one or all, by a word in the rings that it shares
// with them. After that word
//
//   - a peer's reads here count no more: a reader loads the word after each copy
//     (hasLeft);
//   - no peer begins to write here: it loads the word after it has announced a
//     write (inflight.go);
//   - no helper begins a block of a transfer: its blocks are claimed (takeBack).
//
// Accesses begun before are waited for: by Close in place, for a peer that is
// ended alone by Poll (part).

// offLeft is the word of a control segment that counts the peers that have left.
// The words in the rings say which.
const offLeft = 64

// Why a rank has left: the values of a ring's word.
const (
	leftClosed = 1 // it has closed
	leftEnded  = 2 // it has ended this peer
)

// leave tells a peer that this rank leaves it, and why. After it this rank
// neither writes to nor reads from the shared rings, of which either may be
// missing.
//
// The stores pair with the loads in hasLeft and whyGone. The add is an acquire
// too, so the caller's later stores into its memory stay after them.
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

// hasLeft reports whether the peer has begun to leave this rank. Bytes read from
// its memory before a LoadFence and a call that returns false were read in time.
//
// If there is a ring to send in, its receiver's word counts: a peer has that
// ring before its memory may be used.
func (e *endpoint) hasLeft() bool { return e.whyLeft() != 0 }

func (e *endpoint) whyLeft() uint32 {
	switch {
	case e.tx.mem != nil:
		return whyGone(e.tx.mem)
	case e.rx != nil:
		return atomic.LoadUint32(word(e.rx.mem, offEnds))
	}
	return 0
}

// leftError returns why the peer has left this rank, or nil.
func (e *endpoint) leftError() error { return goneError(e.whyLeft()) }

// goneError is the error for the reason why a peer has left, nil for 0.
func goneError(why uint32) error {
	switch why {
	case 0:
		return nil
	case leftClosed:
		return fabric.ErrPeerLeft
	}
	return errEnded
}

var errEnded = fmt.Errorf("%w: it has given this rank up", fabric.ErrPeerDown)

// findLeft ends the peers that have left. A peer that has sent to this rank has
// posted its ring before that. So the ring is here once the word has been loaded
// and the events have been taken after that.
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

// End ends a peer on the engine's behalf. See fabric.Domain.
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

// fail ends a peer. PeerDown follows as soon as the peer can't write to memory
// here any more: at once, or in a later Poll.
func (d *Domain) fail(e *endpoint, err error) {
	if e.down != nil {
		return
	}
	d.cut(e, err)
	d.parting = append(d.parting, e)
	d.part()
}

// cut leaves a peer, which may be alive: nothing more of it is delivered, and
// its operations stop.
func (d *Domain) cut(e *endpoint, err error) {
	d.takeLast(e)
	if e.dying != nil {
		d.dying--
	}
	e.down, e.dying, e.up = err, nil, false
	e.way.Store(&way{err: err}) // pairs with Write
	if e.rx != nil {
		e.rx.sever()
	}
	d.stopHelping(e)
	e.leave(leftEnded)
	d.stopTransfers(e)
}

// endStopped completes the operations of a peer that is quiet.
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
			j.answer(coopAnswered) // the peer may be alive, and wait
		}
	}
	clear(d.helps[len(helps):])
	d.helps = helps
}

// stopTransfers removes the transfers with a peer, or with all (nil), from the
// list of those that Poll moves on, and stops their helpers.
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

// part completes the end of the peers that were ended, and returns how many. A
// helper rings when it has moved its block, a writer when it has written, the
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

// quiet reports whether a peer that this rank has left can't write to memory
// here any more. A peer that has closed is in the middle of nothing. One that has
// ended this rank may have a goroutine in Write; its owner does nothing here.
func (e *endpoint) quiet() bool {
	why := e.whyLeft()
	if e.info == nil || e.died || why == leftClosed {
		return true
	}
	if rx := e.rxMem(); rx != nil && peerWrites(rx) {
		return false
	}
	if why != 0 {
		return true
	}
	return !slices.ContainsFunc(e.stopped, func(j *getJob) bool { return !j.settled() })
}
