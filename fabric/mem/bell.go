package mem

import (
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// bell wakes a sleeping rank. A ring stays until a Wait consumes it, so one
// between the sleeper's last check and its Wait is not lost.
type bell struct {
	// level is the Wake that the owner has armed, 0 for none. Arm stores level,
	// and the Poll after it loads ready.shared and the queue.tail of the peers
	// in it. The peer stores those and then loads level. Go's atomics are
	// sequentially consistent, so one of the two sees the other's store: either
	// Poll finds the event or the peer rings. Only the owner clears level, so a
	// peer that stops anywhere keeps no other from ringing.
	level atomic.Uint32

	rung   chan struct{} // holds at most one ring
	closed chan struct{}
	timer  *time.Timer // the waiter's, kept from Wait to Wait
}

func newBell() bell {
	return bell{rung: make(chan struct{}, 1), closed: make(chan struct{})}
}

// ring makes the present or the next Wait return, whatever the level.
func (b *bell) ring() {
	select {
	case b.rung <- struct{}{}:
	default: // a ring is waiting already
	}
}

// close makes every wait return ErrClosed. It is called once.
func (b *bell) close() { close(b.closed) }

func (b *bell) wait(timeout time.Duration) error {
	select {
	case <-b.closed:
		return fabric.ErrClosed
	default:
	}
	var expired <-chan time.Time
	if timeout > 0 {
		if b.timer == nil {
			b.timer = time.NewTimer(timeout)
		} else {
			b.timer.Reset(timeout)
		}
		defer b.timer.Stop()
		expired = b.timer.C
	}
	select {
	case <-b.rung:
	case <-expired:
	case <-b.closed:
		return fabric.ErrClosed
	}
	return nil
}
