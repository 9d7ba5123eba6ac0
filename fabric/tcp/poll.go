package tcp

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Poll writes what was staged, completes operations and reads sockets: the few
// that had something lately each time, the others seldom or after Arm.
func (d *Domain) Poll(h fabric.Handler, max int) (n int) {
	if max <= 0 || d.closed.Load() {
		return 0
	}
	d.sends, d.roused = 0, false
	d.polls++
	if d.lately > 0 {
		d.lately--
	}
	own := 0 // work that hands nothing over
	if d.pending.Load() {
		own += d.takeEvents(h)
	}
	if d.beaten.Load() != noBeat {
		d.listenForSilence()
	}
	if len(d.sending) > 0 {
		own += d.writeAll()
	}
	// Where max is small, one busy connection could use it up each time. So what
	// has ended comes before the connections, and now and then those that are not
	// hot come before those that are.
	n = d.handEnds(h, max)
	seldom := d.polls%sweepEvery == 0
	if n < max && seldom {
		k, more := d.pollReady(h, max-n)
		n, own = n+k, own+more
	}
	// Each once, from another one each time.
	for k := len(d.hot); k > 0 && len(d.hot) > 0 && n < max; k-- {
		d.turn = (d.turn + 1) % len(d.hot)
		n += d.pollConn(d.hot[d.turn], h, max-n)
	}
	if n < max && !seldom && (d.sweep || len(d.hot) == 0 && d.cfg.Unattended) {
		k, more := d.pollReady(h, max-n)
		n, own = n+k, own+more
	}
	if n < max {
		n += d.handEnds(h, max-n)
	}
	if len(d.sending) > 0 {
		d.writeAll() // replies
	}
	return own + n
}

// handEnds hands over the ends of operations and of peers.
func (d *Domain) handEnds(h fabric.Handler, max int) (n int) {
	if len(d.dying) > 0 {
		n = d.bury(h, max)
	}
	if len(d.done) > 0 && n < max {
		n += d.complete(h, max-n)
	}
	return n
}

// passing notes that a message passes. Those that are urgent or without a body are
// mostly about bulk data.
func (d *Domain) passing(kind uint8, body []byte) {
	if kind&fabric.Urgent == 0 && len(body) > 0 {
		d.lately = latelyPoll
	}
}

// share is how many bytes of bulk data may pass over one connection before the
// others are looked at.
func (d *Domain) share() int {
	if d.lately > 0 {
		return pollShare
	}
	return max(pollMost/max(len(d.hot)/2, 1), pollShare) // a peer has two connections
}

// pollReady reads and writes the sockets that the kernel names. own is how many it
// has written to.
func (d *Domain) pollReady(h fabric.Handler, max int) (n, own int) {
	got := ready(d.bell.sockets, d.ready[:])
	d.sweep = got == len(d.ready) // there may be more
	for _, ev := range d.ready[:got] {
		if int(ev.Fd) >= len(d.conns) {
			continue
		}
		c := d.conns[ev.Fd]
		if c == nil {
			continue
		}
		if ev.Events&unix.EPOLLOUT != 0 {
			own += d.write(c)
		}
		if ev.Events&^unix.EPOLLOUT == 0 || c.hot {
			continue
		}
		if n >= max {
			d.sweep = true
			continue
		}
		if len(d.hot) < hotMost {
			d.heat(c)
		}
		n += d.pollConn(c, h, max-n)
	}
	return n, own
}

// pollConn reads a connection, hands over what has come, and counts that.
func (d *Domain) pollConn(c *conn, h fabric.Handler, max int) int {
	if c.e.doomed {
		return 0 // bury reads the rest
	}
	got := 0
	if !c.full {
		got = c.read()
	}
	if got == 0 && c.r == c.w && c.eof == nil && c.then.form == 0 {
		c.unread()
		if c.idle++; c.hot && c.idle >= vain {
			d.cool(c)
		}
		return 0
	}
	c.idle = 0
	n, err := c.take(h, max)
	if got > 0 || n > 0 {
		c.pulse.silent = 0
	}
	if c.e.down != nil {
		return n + 1
	}
	c.unread()
	if c.seal != nil && c.seal.more {
		d.heat(c) // of what TLS holds the kernel knows nothing
	}
	switch {
	case err != nil:
		c.over = true
		d.lose(c.e, err)
		n++
	case c.eof != nil && n < max:
		d.lose(c.e, c.eof)
		n++
	case n == 0 && got > 0:
		n = 1
	case n == max:
		d.heat(c) // frames may be left, of which the kernel knows nothing
	}
	return n
}

// heat has each Poll read the connection.
func (d *Domain) heat(c *conn) {
	if c.idle = 0; !c.hot {
		c.hot = true
		d.hot = append(d.hot, c)
	}
}

// cool is the opposite. The others keep their order and their turns: a connection
// that a Poll leaves out may have frames, for which no doorbell rings.
func (d *Domain) cool(c *conn) {
	if !c.hot {
		return
	}
	c.hot = false
	i := slices.Index(d.hot, c)
	d.hot = slices.Delete(d.hot, i, i+1)
	if i <= d.turn {
		d.turn--
	}
}

// complete tells of what has completed. Handlers may begin operations, and these
// may complete.
func (d *Domain) complete(h fabric.Handler, max int) (n int) {
	for ; n < len(d.done) && n < max; n++ {
		f := d.done[n]
		h.Complete(f.op, f.err)
	}
	rest := copy(d.done, d.done[n:])
	clear(d.done[rest:])
	d.done = d.done[:rest]
	return n
}

// writeAll writes what the connections have, but to those without room only now
// and then: the epoll tells when they have some.
func (d *Domain) writeAll() (n int) {
	for i := 0; i < len(d.sending); {
		c := d.sending[i]
		if c.blocked && d.polls%4 != 0 {
			i++
			continue
		}
		n += d.write(c)
		if i < len(d.sending) && d.sending[i] == c {
			i++
		}
	}
	return n
}

// write writes to a connection, and returns 1 if anything was accepted.
func (d *Domain) write(c *conn) int {
	got, err := c.write(d.share())
	if err != nil {
		c.fail(err)
		d.sending = without(d.sending, c, &c.sending)
		return 1
	}
	if c.clear() && c.jobs.len() == 0 {
		d.sending = without(d.sending, c, &c.sending)
	}
	return min(got, 1)
}
