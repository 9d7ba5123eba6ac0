package verbs

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// drain ends the peer once what it had sent is taken.
func (e *endpoint) drain(err error) {
	if e.down == nil && e.failing == nil && e.draining == nil {
		e.draining, e.up = err, false
		e.d.draining = append(e.d.draining, e)
		e.d.endedAt = e.d.taken
	}
}

// End ends a peer for a reason of the engine's. Unless the peer is down already
// PeerDown follows, once it can write to no memory here. Its keys alone would not
// do, since those of an arena stay.
func (d *Domain) End(p fabric.Peer, err error) bool {
	if d.closed.Load() || int(p) >= len(d.peers) {
		return false
	}
	e := d.endpoint(p)
	if e.down != nil {
		return false
	}
	e.cut = true
	e.fail(e.downError("talk over verbs", err))
	return true
}

// fail ends the peer: the device flushes its operations, after which finishFailed
// tells of its end.
func (e *endpoint) fail(err error) {
	if e.down != nil || e.failing != nil {
		return
	}
	d := e.d
	e.failing, e.up = err, false
	e.failPoll, e.failBy = d.polls, time.Now().Add(flushTime)
	if e.qp.Handle != 0 {
		if ferr := d.hca.FailQP(e.qp); ferr != nil {
			e.failBy = time.Now()
		}
	}
	e.failRails(err)
	d.failing = append(d.failing, e)
	d.endedAt = d.taken
}

// failAll ends every peer that there is a connection with.
func (d *Domain) failAll(err error) {
	for _, e := range d.peers {
		if e != nil {
			e.fail(e.downError("talk over verbs", err))
		}
	}
}

func (e *endpoint) downError(what string, err error) error {
	return &fabric.Error{Op: what, Peer: e.peer, HasPeer: true, Err: fmt.Errorf("%w: %w", fabric.ErrPeerDown, err)}
}

// finishFailed moves peers towards their end. It is called when the queues are empty.
func (d *Domain) finishFailed(h fabric.Handler, max int) int {
	n := 0
	for i, e := range d.draining {
		e.fail(e.draining)
		d.draining[i] = nil
	}
	d.draining = d.draining[:0]
	for i := 0; i < len(d.failing); {
		e := d.failing[i]
		if e.failPoll == d.polls || (e.head != e.tail && e.qp.Handle != 0 || e.railsBusy()) && time.Now().Before(e.failBy) {
			i++ // flushes may come, or messages from before
			if !e.marked {
				// Unsignaled requests that succeeded get no flush completion: post a
				// signaled request behind them and wait for it.
				e.marked = true
				e.flushMark()
			}
			continue
		}
		e.destroy() // before any operation ends that the device has not ended
		for e.head != e.tail && n < max {
			n += e.end(h, e.failing)
		}
		for _, r := range e.rails {
			for r.head != r.tail && n < max {
				n += e.endRail(h, r, e.failing)
			}
		}
		for ; len(e.stranded) > 0 && n < max; e.stranded = e.stranded[1:] {
			n += d.ended(h, e.stranded[0].id, e.failing)
		}
		n += e.settle(h, max-n)
		if n == max {
			return n
		}
		if len(e.refused) > 0 {
			i++ // the peer is asked
			continue
		}
		d.failing = append(d.failing[:i], d.failing[i+1:]...)
		e.down, e.failing = e.failing, nil
		d.uncovered -= e.held
		e.held, e.ring, e.rails, e.stranded = 0, nil, nil, nil
		d.hangUp(e.peer)
		h.PeerDown(e.peer, e.down)
		n++
	}
	return n
}

// hangUp closes the socket, which tells the peer, and says before that it is
// no death. What the peer dials from now on is refused.
func (d *Domain) hangUp(p fabric.Peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.links[p].over = true
	if c := d.links[p].conn; c != nil {
		say(c, byteEnded)
		c.Close()
		d.links[p].conn = nil
	}
}

// completionError takes a completion that is an error and says what the operation it
// names ends with.
func (e *endpoint) completionError(c *ibv.WC) error {
	if e.failing != nil {
		return e.failing
	}
	err := e.draining
	if err == nil {
		err = e.statusError("talk over verbs", c)
	}
	e.fail(err)
	if c.Status == ibv.RemAccessErr {
		return errRefused
	}
	return err
}

// ErrPathLost means that one of several paths to a peer has failed by an
// operation's own fault, so that it can't go on over another. The peer is there,
// and operations that follow use other paths.
var ErrPathLost = errors.New("a path to the peer is lost, others are left")

// statusError explains the status of a completion.
func (e *endpoint) statusError(what string, c *ibv.WC) error {
	s := statuses[min(int(c.Status), len(statuses)-1)]
	err := &fabric.Error{Op: what, Peer: e.peer, HasPeer: true, Remedy: s.remedy,
		Err: fmt.Errorf("%w: %s (status %d, vendor %#x)", fabric.ErrPeerDown, s.what, c.Status, c.VendorErr)}
	if e.head == 0 && c.Status == ibv.RetryExcErr {
		err.Remedy = fmt.Sprintf("nothing has ever arrived there: check that GID index %d of %s reaches the peer (weft info; choose with %s), and the MTU along the way",
			e.d.port.gidIndex, e.d.port.device, envGID)
	}
	return err
}

// errRailGone is why a rail is lost that the peer has destroyed.
var errRailGone = errors.New("the peer has lost it")

// statuses are those of enum ibv_wc_status.
var statuses = []struct{ what, remedy string }{
	{"success", ""},
	{"local length error: a message is longer than its slot", "run the same build of Weft on all ranks"},
	{"local queue pair operation error", ""},
	{"local EE context operation error", ""},
	{"local protection error: a buffer is not registered any more", "leave buffers alone until their operation has completed"},
	{"flushed", ""},
	{"memory window bind error", ""},
	{"bad response", ""},
	{"local access error", ""},
	{"the peer's device calls the request invalid", "run the same build of Weft on all ranks"},
	{"the peer's device refuses access to its memory", ""},
	{"the peer's device could not carry out the request", ""},
	{"the peer's device does not answer", "check the link, the switch and, on RoCE, flow control (PFC, ECN)"},
	{"the peer's device had no receive slot for too long", "the peer does not poll, or its receive queue is too short"},
	{"local RDD violation", ""},
	{"the peer's device calls the read invalid", ""},
	{"the peer has aborted", ""},
	{"invalid EE context number", ""},
	{"invalid EE context state", ""},
	{"the device has failed", "see the kernel's log"},
	{"the peer's device took too long to answer", "check the link"},
	{"general error", "see the kernel's log"},
}
