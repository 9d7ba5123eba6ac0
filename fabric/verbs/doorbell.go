package verbs

import (
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/bell"
)

// doorbell is where a rank sleeps: for completion channels, or a ring of its own.
type doorbell struct {
	bell.Bell
	hcas  []hca
	armed fabric.Wake
	// fired says that the channel has told of a completion and has to be armed
	// again. Its store in take pairs with the load in Arm: an Arm that misses it
	// is followed by the return of the Wait or Sleep that stored it.
	fired atomic.Bool
}

func (b *doorbell) open(hcas []hca) error {
	b.hcas = hcas
	var watched []bell.Watch
	for _, n := range hcas {
		watched = append(watched, bell.Watch{FD: n.EventFD()})
	}
	return b.Open(watched, b.take)
}

// take takes what one of the channels has to tell.
func (b *doorbell) take(fd int) {
	for _, n := range b.hcas {
		if fd == n.EventFD() && n.AckEvents() > 0 {
			b.fired.Store(true)
		}
	}
}

// Arm asks the device for an event of its completion channel: for the next
// message, or the next that is sent as solicited, which are the Urgent ones and
// those that fill the last quarter of the sender's credit. A plain message that
// came before the level was lowered may still ring.
func (d *Domain) Arm(w fabric.Wake) error {
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	b := &d.bell
	if b.armed == w && !b.fired.Load() {
		return nil
	}
	b.fired.Store(false)
	b.armed = w
	err := d.hca.ReqNotify(w == fabric.WakeUrgent)
	if err == nil {
		err = d.armPorts()
	}
	if err != nil {
		b.armed = 0
		return &fabric.Error{Op: "arm the completion queue", Err: err}
	}
	return nil
}

// Disarm takes nothing back from the device: at most one ring is in vain.
func (d *Domain) Disarm() { d.bell.armed = 0 }

// Wait sleeps until the doorbell rings, on Go's poller.
func (d *Domain) Wait(timeout time.Duration) error { return d.bell.Wait(timeout, &d.closed) }

// Sleep is Wait by a thread, which it blocks.
func (d *Domain) Sleep(timeout time.Duration) error { return d.bell.Sleep(timeout, &d.closed) }

// Wake rings the rank's own doorbell.
func (d *Domain) Wake() {
	if !d.closed.Load() {
		d.bell.Ring()
	}
}
