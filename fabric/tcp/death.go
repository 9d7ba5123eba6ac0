package tcp

import (
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// A peer goes down in these steps: its connections are at an end (lose); what has
// arrived of its messages is handed over; it is asked whether it has given this rank
// up, if it did not say; its operations complete; PeerDown is called.

// lose makes a peer one that is to be buried: its connections are at an end. err
// wraps ErrPeerDown, or is what the kernel says.
func (d *Domain) lose(e *endpoint, err error) {
	if e.down != nil {
		return
	}
	if e.doomed {
		if !isPeerDown(e.dying) && isPeerDown(err) {
			e.dying = err
		}
		return
	}
	e.doomed, e.dying = true, err
	e.arrived()
	for _, c := range [...]*conn{e.msg, e.bulk} {
		if c != nil {
			d.hush(c)
		}
	}
	d.dying = append(d.dying, e)
	d.Wake()
}

// hush has nothing more of a connection announced or written: bury reads it.
func (d *Domain) hush(c *conn) {
	unix.EpollCtl(d.bell.sockets, unix.EPOLL_CTL_DEL, c.fd, nil)
	d.sending = without(d.sending, c, &c.sending)
	d.cool(c)
}

func isPeerDown(err error) bool { return errors.Is(err, fabric.ErrPeerDown) }

// why is why a peer is down, once its messages have been handed over.
func (e *endpoint) why() error {
	if isPeerDown(e.dying) && !e.left {
		return e.dying
	}
	return e.lost(e.dying)
}

// lost puts the end of a connection into words.
func (e *endpoint) lost(err error) error {
	why := fabric.ErrPeerDown
	switch {
	case e.left:
		why, err = fabric.ErrPeerLeft, nil
	case errors.Is(err, io.EOF):
		err = errors.New("its process has ended")
	default:
		err = fmt.Errorf("its process has ended or its host can't be reached (%w)", err)
	}
	if err != nil {
		why = fmt.Errorf("%w: %w", why, err)
	}
	return &fabric.Error{Op: "talk over TCP", Peer: e.peer, HasPeer: true, Err: why}
}

// bury hands over what is left of peers that are lost, completes the operations with
// them, and reports their end.
func (d *Domain) bury(h fabric.Handler, max int) (n int) {
	for i := 0; i < len(d.dying) && n < max; {
		e := d.dying[i]
		if e.down == nil {
			k, dry := d.drain(e, h, max-n)
			if n += k; !dry {
				return n
			}
		}
		if e.down == nil && !e.left && !isPeerDown(e.dying) && e.asking != answered {
			if e.asking == underWay || d.ask(e.peer) {
				e.asking = underWay
				i++
				continue
			}
		}
		if e.down == nil {
			e.down, e.buried = e.why(), true
			if isPeerDown(e.dying) {
				e.tellEnd()
			}
			d.drop(e)
			d.finishAll(e, e.down)
		}
		if n += d.complete(h, max-n); len(d.done) > 0 || n >= max {
			return n // the end comes behind them
		}
		d.dying = append(d.dying[:i], d.dying[i+1:]...)
		if e.buried {
			h.PeerDown(e.peer, e.down)
			n++
		}
	}
	return n
}

// drain hands over the messages of a lost peer that have arrived. It returns false
// if there may be more.
func (d *Domain) drain(e *endpoint, h fabric.Handler, max int) (n int, dry bool) {
	c := e.msg
	if c == nil || c.over {
		return 0, true
	}
	for n < max {
		k, err := c.take(h, max-n)
		n += k
		if e.down != nil {
			return n, true // the handler has ended it
		}
		if err != nil {
			if c.over = true; !isPeerDown(e.dying) {
				e.dying = err
			}
			return n, true
		}
		if n >= max {
			break
		}
		got := 0
		if e.rest > 0 {
			got = c.read()
		}
		if got == 0 {
			return n, true
		}
		e.rest -= got
	}
	return n, false
}

// Lost takes the news of a peer's death. A connection that is made, or that the peer
// has been welcomed with, may bring what it had sent: its end is the peer's, and so is
// its silence, as the network may be cut.
func (d *Domain) Lost(p fabric.Peer, err error) {
	if d.closed.Load() || int64(p) >= int64(len(d.eps)) || p == d.cfg.Rank {
		return
	}
	e := d.endpoint(p)
	if e.down != nil || e.doomed || e.news != nil {
		return
	}
	e.news = err
	d.look(e)
	d.await(e)
	if e.msg != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.links[p].dead = err
	d.bemoan(p, &d.links[p])
}

// await has overdue called when a dead peer has had its time.
func (d *Domain) await(e *endpoint) {
	end := time.After(d.set.lostTime)
	d.wg.Go(func() {
		select {
		case <-d.ctx.Done():
		case <-end:
			d.post(event{peer: e.peer, fd: -1, over: true})
		}
	})
}

// overdue makes a dead peer one that is to be buried, unless something has come of it in
// its time, or waits to be read, with more behind it perhaps.
func (d *Domain) overdue(e *endpoint) {
	if e.down != nil || e.doomed {
		return
	}
	before := e.came
	if waits := d.look(e); waits || e.came != before {
		d.await(e)
		return
	}
	d.lose(e, e.news)
}

// look notes how much has come of a peer, and reports whether some of it waits to be
// read, which the next Poll does.
func (d *Domain) look(e *endpoint) (waits bool) {
	e.came = 0
	for _, c := range [...]*conn{e.msg, e.bulk} {
		if c == nil {
			continue
		}
		if tcpInfo(c.fd, &d.info) {
			e.came += d.info.Bytes_received
		}
		if n, err := unix.IoctlGetInt(c.fd, unix.SIOCINQ); err == nil && n > 0 {
			d.sweep, waits = true, true
		}
	}
	return waits
}

// bemoan ends a peer of whose death there is news, unless a connection may bring
// what it had sent. An own dial is given up: the peer sends nothing over it before
// made. The caller has Domain.mu.
func (d *Domain) bemoan(p fabric.Peer, l *link) {
	if s := l.state[forMessages]; l.dead == nil || s == linkAccepting || s == linkMade {
		return
	}
	l.state[forMessages], l.wanted[forMessages] = linkIdle, false
	d.postLocked(event{peer: p, fd: -1, err: l.dead})
}

// drop closes the connections with a peer.
func (d *Domain) drop(e *endpoint) {
	for _, c := range []**conn{&e.msg, &e.bulk} {
		if *c != nil {
			(*c).release()
			d.remove(*c)
			*c = nil
		}
	}
	d.mu.Lock()
	d.links[e.peer].over = true
	d.mu.Unlock()
}
