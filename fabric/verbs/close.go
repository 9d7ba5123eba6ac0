package verbs

import (
	"errors"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// closeTime bounds how long Close waits for what has been sent to arrive.
const closeTime = time.Second

// Close waits, for a second at most, until what was sent has arrived at the
// peers' devices, then takes everything down: afterwards no device touches
// memory of this rank. Peers that are alive are told PeerDown.
func (d *Domain) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.bell.ring()
	d.quiesce()
	d.mu.Lock()
	for i := range d.links {
		if c := d.links[i].conn; c != nil {
			c.SetWriteDeadline(time.Now().Add(closeTime))
			c.Write([]byte{byteBye})
		}
	}
	d.mu.Unlock()
	return d.release()
}

// quiesce lets the sends that are outstanding end. Their completions are
// nobody's any more.
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
		for ; !d.sdone.empty(); d.sdone.next++ { // which a post has found, or a Poll cut short has left
			d.retire(nobody{}, &d.ring.sdone[d.sdone.next])
		}
		p := d.nic.turn(d.sends, 0, 0, doneRing, 1)
		d.sends = 0
		if p.err() != nil {
			return
		}
		d.sdone = stash{0, p.sends()}
		d.pollPorts(nobody{}, doneRing)
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
func (nobody) Notify(fabric.Peer, uint32)                         {}
func (nobody) Complete(fabric.Op, error)                          {}
func (nobody) PeerDown(fabric.Peer, error)                        {}

// release frees everything, in the order that the library asks for: goroutines
// that use it, queue pairs, memory, queues.
func (d *Domain) release() error {
	d.mu.Lock() // nobody starts a goroutine after this
	d.closed.Store(true)
	d.mu.Unlock()
	d.cancel()
	if d.listener != nil {
		d.listener.Close()
	}
	if d.ticker != nil {
		d.ticker.Stop()
	}
	d.wg.Wait()
	d.mu.Lock()
	events := d.events
	d.events = nil
	d.mu.Unlock()
	if d.nic == nil {
		return nil
	}
	var errs []error
	for i := range events {
		if events[i].made {
			errs = append(errs, d.nic.destroyQP(events[i].qp), d.discard(events[i].rails))
		}
	}
	for _, e := range d.peers {
		if e != nil {
			e.up = false
			errs = append(errs, e.destroy(), e.destroyRails())
		}
	}
	d.bell.close()
	errs = append(errs, d.regions.close())
	for _, m := range []mr{d.recvMR, d.sendMR, d.creditMR, d.keysMR} {
		if m.id != 0 {
			errs = append(errs, d.nic.deregister(m))
		}
	}
	errs = append(errs, d.closePorts(), d.nic.close())
	d.sends, d.recvs = 0, 0
	for _, m := range [][]byte{d.recvMem, d.sendMem, d.creditMem, d.keysMem} {
		unmap(m)
	}
	return errors.Join(errs...)
}
