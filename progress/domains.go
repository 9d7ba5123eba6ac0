package progress

import (
	"errors"
	"sync"

	"github.com/weft-mpi/weft/fabric"
)

// A loop may drive several fabrics, each peer over one of them. The process
// sleeps in one place, the first domain's Wait: a goroutine for each other
// domain waits there and passes its doorbell on.

// fabrics is what other goroutines use of them.
type fabrics struct {
	first fabric.Domain // Loop.dom
	addrs [][]byte      // of the peers
	bells sync.WaitGroup
}

// lingering makes the domain linger, or stops that, where it can. For a waiter
// that polls no other domain.
func (l *Loop) lingering(on bool) {
	if l.linger != nil {
		*l.linger = on
	}
}

// relayBells starts the goroutines that pass doorbells on.
func (l *Loop) relayBells() {
	for _, d := range l.more {
		l.bells.Go(func() { l.passBellOn(d) })
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
		l.first.Wake()
	}
}

// stopBells ends them.
func (l *Loop) stopBells() {
	for _, d := range l.more {
		d.Wake()
	}
	l.bells.Wait()
}

func (l *Loop) pollMore(max int) (n int) {
	for _, d := range l.more {
		n += d.Poll(l, max)
	}
	return n
}

// armAll arms the doorbells of all domains, or none.
func (l *Loop) armAll(w fabric.Wake) error {
	if err := l.dom.Arm(w); err != nil {
		return err
	}
	for _, d := range l.more {
		if err := d.Arm(w); err != nil {
			l.disarmAll()
			return err
		}
	}
	return nil
}

func (l *Loop) disarmAll() {
	l.dom.Disarm()
	for _, d := range l.more {
		d.Disarm()
	}
}

// Via is the fabric that a peer is reached over. It does not connect.
func (l *Loop) Via(p fabric.Peer) fabric.Domain { return l.conns[p].dom }
