package fabrictest

import (
	"errors"
	"runtime"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// count counts messages.
func (n *node) count() *int {
	c := new(int)
	n.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { *c++ }
	return c
}

// signal tells another rank's goroutine that something has been reached. It
// holds one, so that saying does not wait for hearing.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

// say polls while the last signal has not been heard.
func (n *node) say(s signal) {
	n.t.Helper()
	n.wait("the other rank's goroutine to listen", func() bool {
		select {
		case s <- struct{}{}:
			return true
		default:
			return false
		}
	})
}

// hear polls until the other rank's goroutine has said something.
func (n *node) hear(s signal) {
	n.t.Helper()
	n.wait("the other rank's goroutine", s.heard)
}

// hearOnly is hear without polling, so that what has come stays where it is.
func (n *node) hearOnly(s signal) {
	n.t.Helper()
	idle := n.idle
	n.idle = runtime.Gosched
	n.wait("the other rank's goroutine", s.heard)
	n.idle = idle
}

func (s signal) heard() bool {
	select {
	case <-s:
		return true
	default:
		return false
	}
}

// sleepUntil sleeps as the engine does until cond holds: arm, look once more,
// wait. A wake-up is lost when only the timeout ends a Wait.
func (n *node) sleepUntil(w fabric.Wake, what string, cond func() bool) {
	n.t.Helper()
	defer n.d.Disarm()
	end := time.Now().Add(patience)
	for {
		if err := n.d.Arm(w); err != nil {
			n.fail("rank %d: Arm: %v", n.rank, err)
		}
		// Not pollDry: against a sender that never stops it may never end.
		for n.poll() > 0 && !cond() {
		}
		if cond() {
			return
		}
		start := time.Now()
		if err := n.d.Wait(patience); err != nil && !errors.Is(err, fabric.ErrClosed) {
			n.fail("rank %d: Wait: %v", n.rank, err)
		}
		if time.Since(start) >= patience {
			n.pollDry()
			n.fail("rank %d: lost wake-up: slept %v waiting for %s; found by Poll afterwards: %t", n.rank, patience, what, cond())
		}
		if time.Now().After(end) {
			n.fail("rank %d waited %v for: %s", n.rank, patience, what)
		}
	}
}
