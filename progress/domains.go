package progress

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
)

// A loop may drive several fabrics, each peer over one of them. The process
// sleeps in one place, the first domain's Wait: a goroutine for each other
// domain waits there and passes its doorbell on.

// lingering makes the domain linger, or stops that, where it can. For a waiter
// that polls no other domain.
func (l *Loop) lingering(on bool) {
	if l.linger != nil {
		*l.linger = on
	}
}

// passBellOn sleeps as the progress thread does.
func (l *Loop) passBellOn(d fabric.Domain) {
	sleep, kernel := d.Wait, false
	for l.life.Load() != closed {
		if !kernel && l.attended.Load() {
			kernel = true
			wakePromptly()
			sleep = d.Sleep
		}
		err := sleep(0)
		if errors.Is(err, fabric.ErrUnsupported) {
			sleep = d.Wait
		} else if err != nil {
			return
		}
		l.dom.Wake()
	}
}

func (l *Loop) pollMore(max int) (n int) {
	for _, d := range l.doms[1:] {
		n += d.Poll(l, max)
	}
	return n
}

// armAll arms the doorbells of all domains, or none.
func (l *Loop) armAll(w fabric.Wake) error {
	for i, d := range l.doms {
		if err := d.Arm(w); err != nil {
			for _, armed := range l.doms[:i] {
				armed.Disarm()
			}
			return err
		}
	}
	return nil
}

func (l *Loop) disarmAll() {
	for _, d := range l.doms {
		d.Disarm()
	}
}

// Via is the fabric that a peer is reached over. It does not connect.
func (l *Loop) Via(p fabric.Peer) fabric.Domain { return l.doms[l.conns[p].via] }
