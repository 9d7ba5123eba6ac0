package verbs

import (
	"errors"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// Close waits, for a second at most, until what was sent has arrived at the
// peers' devices, then takes everything down: when it returns no device reads or
// writes memory of this rank any more, ours or a peer's, whatever was under way.
// Until then the caller holds the buffers of operations that have not completed.
// Peers that are alive are told PeerDown. A device that refuses is in the error,
// see destroy.go.
func (d *Domain) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.bell.Ring()
	d.quiesce()
	d.mu.Lock()
	for i := range d.links {
		if c := d.links[i].conn; c != nil {
			say(c, byteBye)
		}
	}
	d.mu.Unlock()
	return d.release()
}

// quiesce lets the sends that are outstanding end. Their completions are
// nobody's any more. What has not ended when it returns, since the time is over,
// a peer is stopped or a device takes no more, ends with its queue pair.
func (d *Domain) quiesce() {
	if d.sends > 0 {
		d.flush()
	}
	d.takeEvents()
	for _, e := range d.peers {
		if e != nil && e.up && e.head != e.tail {
			e.flushMark()
		}
	}
	for end := time.Now().Add(closeTime); d.alive() && time.Now().Before(end); {
		for ; !d.sdone.empty(); d.sdone.next++ { // which a Poll cut short has left
			d.retire(nobody{}, &d.ring.SendWC[d.sdone.next])
		}
		d.sdone = stash{0, d.postPoll(0, ibv.MaxWC, 1).Sends()} // what it refuses is waited for no more
		d.pollPorts(nobody{}, ibv.MaxWC)
	}
}

// alive says whether something is outstanding towards a peer that may answer.
func (d *Domain) alive() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p, e := range d.peers {
		if e != nil && e.up && (e.head != e.tail || e.railsBusy()) && !d.links[p].gone {
			return true
		}
	}
	return false
}

// nobody takes the events of a domain that is being closed.
type nobody struct{}

func (nobody) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) {}
func (nobody) Complete(fabric.Op, error)                          {}
func (nobody) PeerDown(fabric.Peer, error)                        {}

// release frees everything, in the order that the library asks for: goroutines
// that use it, queue pairs, memory, queues. Every queue pair there is belongs to
// a peer, to an event that nobody has taken, or to a set-up goroutine, which
// destroys what it can't hand over any more.
func (d *Domain) release() error {
	d.mu.Lock() // nobody starts a goroutine after this
	d.closed.Store(true)
	d.mu.Unlock()
	d.cancel()
	if d.listener != nil {
		d.listener.Close()
	}
	d.wg.Wait()
	d.mu.Lock()
	events := d.events
	d.events = nil
	d.mu.Unlock()
	if d.hca == nil {
		return nil
	}
	for i := range events {
		if events[i].made {
			d.destroyQP(0, events[i].qp)
			d.discard(events[i].rails)
		}
	}
	for _, e := range d.peers {
		if e != nil {
			e.up = false
			e.destroy()
		}
	}
	errs := []error{d.retryDestroy()}
	d.bell.Close()
	errs = append(errs, d.regions.Close(), d.closeKeys())
	for _, m := range []struct {
		mr  ibv.MR
		mem []byte
	}{{d.recvMR, d.recvMem}, {d.sendMR, d.sendMem}, {d.creditMR, d.creditMem}, {d.keysMR, d.keysMem}} {
		if m.mr.Handle != 0 {
			if err := d.hca.DeregMR(m.mr); err != nil {
				errs = append(errs, err)
				continue // the device may still write there
			}
		}
		ibv.Unmap(m.mem)
	}
	errs = append(errs, d.closePorts(), d.hca.Close())
	d.sends, d.recvs = 0, 0
	return errors.Join(errs...)
}
