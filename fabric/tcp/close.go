package tcp

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// End closes the connections with a peer, which is told why if there is room.
func (d *Domain) End(p fabric.Peer, err error) bool {
	if d.closed.Load() || int64(p) >= int64(len(d.eps)) {
		return false
	}
	e := d.endpoint(p)
	if e.down != nil {
		return false
	}
	e.down = err
	e.tellEnd()
	d.drop(e)
	d.finishAll(e, err)
	d.rouse() // the operations' ends are the Poll's to tell
	return false
}

// Close writes what was sent and a Bye to each peer, and waits until the peers'
// hosts have it: for all peers at once, so that none holds up what others are sent.
func (d *Domain) Close() error {
	if !d.closed.CompareAndSwap(false, true) {
		return fabric.ErrClosed
	}
	d.takeEvents(nil) // connections that nobody has used yet get a Bye, too
	var all []*leaving
	for _, e := range d.eps {
		if e == nil || e.down != nil || e.doomed || e.news != nil {
			continue
		}
		var first *leaving
		for _, c := range [...]*conn{e.msg, e.bulk} {
			if c != nil {
				first = &leaving{c: c, after: first}
				first.begin()
				all = append(all, first)
			}
		}
	}
	leave(all, d.set.closeTime)
	for _, l := range all {
		if l.late {
			d.cfg.Log.Warn("tcp: a peer's host has not taken everything that was sent to it when this rank left", "rank", l.c.e.peer)
		}
	}
	for _, bulk := range []bool{false, true} { // in this order, see leaving.after
		for _, c := range d.conns {
			if c != nil && c.bulk == bulk {
				d.remove(c)
			}
		}
	}
	d.Wake()
	d.release0()
	d.turnAway()
	return nil
}

// turnAway ends the connections that greetings have made while the rank left.
func (d *Domain) turnAway() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, ev := range d.events {
		if ev.fd < 0 {
			continue
		}
		if ev.seal != nil {
			ev.seal.open(&d.buffers)
		}
		if ev.use == forMessages {
			(&conn{fd: ev.fd, seal: ev.seal}).sendOne(bye())
		}
		unix.Close(ev.fd)
	}
	d.events = nil
}

// bye is a frame that says that this rank leaves in order.
func bye() []byte {
	b := make([]byte, headerSize)
	header{form: formBye}.put(b)
	return b
}

// leaving is a connection that a rank leaves: it writes what is left, shuts the
// connection down and waits until the peer's host has it all.
type leaving struct {
	c *conn
	// after is the connection for messages, of one for bulk data. That one ends
	// first, so that whoever finds the end of this one finds all messages, too.
	after *leaving

	bye, shut, done bool
	late            bool          // the peer has taken nothing for too long
	left            int           // bytes that the peer's host does not have
	idle            time.Duration // since it has become less
}

// begin drops the jobs that have not begun: of a piece that was written in part the
// peer needs the rest.
func (l *leaving) begin() {
	c := l.c
	l.bye = c.bulk
	if c.jobs.headLen > 0 && len(c.head) < c.jobs.headLen {
		c.cut(1)
		if j := c.jobs.top(); !j.gone {
			j.src = j.src[:j.at+uint64(c.jobs.piece)]
		}
	} else {
		c.head, c.tail, c.jobs.headLen = nil, nil, 0
		c.cut(0)
	}
}

// step goes on without waiting.
func (l *leaving) step() {
	c := l.c
	if !l.bye && c.room(headerSize) {
		c.stage(header{form: formBye}, nil, nil)
		l.bye = true
	}
	if !l.shut {
		if err := c.writeRest(); err != nil {
			l.done = true
			return
		}
		if l.bye && c.clear() && (l.after == nil || l.after.done) {
			unix.Shutdown(c.fd, unix.SHUT_WR)
			l.shut = true
		}
	}
	if l.done = c.discard(); l.done {
		return
	}
	left, err := unix.IoctlGetInt(c.fd, unix.SIOCOUTQ)
	left += c.waiting()
	if err != nil || l.shut && left <= 1 { // the end itself counts as one
		l.done = true
	}
	if left < l.left {
		l.idle = 0
	}
	l.left = left
}

// writeRest writes what is staged and the rest of the piece under way.
func (c *conn) writeRest() error {
	for !c.clear() {
		if n, err := c.write(pieceSize); n == 0 || err != nil {
			return err
		}
	}
	return nil
}

// discard throws away what comes, so that the peer is not held up. It returns true if
// the peer has closed the connection.
func (c *conn) discard() bool {
	trash := c.e.d.buffers.take()
	defer c.e.d.buffers.put(trash)
	for {
		switch n, errno := receiveOne(c.fd, trash); {
		case errno == again, errno == unix.EINTR:
			return false
		case n == 0:
			return true
		}
	}
}

// leave goes on with all until they are done, or have taken nothing for a time. What
// a stop of this process takes does not count.
func leave(all []*leaving, limit time.Duration) {
	const most = 5 * time.Millisecond
	pause := 20 * time.Microsecond
	for last := time.Now(); ; {
		now := time.Now()
		spent := min(now.Sub(last), 2*most)
		last = now
		open := false
		for _, l := range all {
			if l.done || l.late {
				continue
			}
			if l.step(); l.done {
				continue
			}
			l.idle += spent
			l.late = l.idle > limit
			open = open || !l.late
		}
		if !open {
			return
		}
		time.Sleep(pause)
		pause = min(2*pause, most)
	}
}
