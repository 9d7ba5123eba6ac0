package shm

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// call begins to dial a peer.
func (g *greeter) call(p fabric.Peer, m *acquaintance) {
	fd, err := socket()
	if err != nil {
		g.unmet(p, fmt.Errorf("dial: %w", err))
		return
	}
	c := g.begin(fd, reaching)
	c.peer, c.known, c.mine = p, true, true
	m.out = c
	g.active++
	g.reach(c)
}

// reach connects to a peer's socket. If the queue of connections is full it
// tries again later: the owner accepts none while it is stopped, and if it ends
// the socket rejects connections.
func (g *greeter) reach(c *handshake) {
	socket, namespace := socketOf(g.known(c.peer).addr)
	switch err := connect(c.fd, g.name.set(socket)); {
	case err == nil:
		g.offer(c)
	case errors.Is(err, unix.EAGAIN):
		g.say(c, "shm: the queue of connections to a process is full; waiting for it. It may be stopped (a signal, a debugger) or without a processor")
		g.later(c)
	default:
		g.drop(c, unreached(err, namespace))
	}
}

// offer makes the segment and sends it. The kernel bounds the descriptors that a
// user has in flight in sockets: other greetings' must be received first.
func (g *greeter) offer(c *handshake) {
	d := g.d
	if c.seg == nil {
		var err error
		if c.segFD, c.seg, err = newSegment("weft-rings", d.ringPair()); err != nil {
			c.segFD = -1
			g.drop(c, err)
			return
		}
		c.hello = d.greeting()
		c.state = offering
	}
	err := g.send(c, d.controlFD, d.bellFD, d.arena.fd(), c.segFD)
	switch {
	case errors.Is(err, unix.ETOOMANYREFS):
		g.later(c)
		return
	case err == nil:
		unix.Close(c.segFD)
		c.segFD = -1
		c.state = awaiting
		c.due = c.begun.Add(d.slow)
		g.due(c.due)
		err = g.lookAt(c)
	}
	if err != nil {
		g.drop(c, err)
	}
}

// send sends the greeting of a call.
func (g *greeter) send(c *handshake, fds ...int) error {
	err := sendHello(c.fd, &c.hello, fds...)
	if errors.Is(err, unix.ETOOMANYREFS) {
		g.say(c, "shm: too many descriptors are on their way to processes that do not receive them; waiting. Raise the limit on open files, or start fewer ranks")
	}
	return err
}

// answered takes the reply to this rank's dial.
func (g *greeter) answered(c *handshake, you *hello, fds []int) {
	defer closeAll(fds)
	m, me := g.known(c.peer), &c.hello
	var err error
	c.pid, err = trusted(c.fd)
	switch {
	case err != nil:
	case you.already:
		if m.in == nil {
			err = errors.New("the peer takes this rank for connected, which it is not")
			break
		}
		g.end(c)
		return
	case you.refusal == errAbsent.Error():
		err = errAbsent
	case you.refusal != "":
		err = fmt.Errorf("the peer refuses: %s", you.refusal)
	default:
		err = me.accepts(you)
	}
	if err == nil && fabric.Peer(you.rank) != c.peer {
		err = fmt.Errorf("rank %d answers there", you.rank)
	}
	if err == nil && len(fds) != fdRings {
		err = errors.New("the peer sent too few descriptors")
	}
	if err == nil {
		c.info, err = g.meet(c, you, fds)
	}
	if err == nil {
		err = g.watch(c)
	}
	if err != nil {
		g.drop(c, err)
		return
	}
	if c.said {
		g.d.cfg.Log.Info("shm: the process has answered", "rank", c.peer, "after", time.Since(c.begun).Round(time.Millisecond))
	}
	c.fenced = !me.membarrier || !you.membarrier
	// Pairs with settle. The domain has the connection before the close of the
	// socket makes the peer check.
	atomic.StoreUint32(word(c.seg, offSettled), 1)
	held := m.held
	m.over = true
	g.handOver(c, false)
	g.end(c)
	if held != nil {
		g.connectedAlready(held)
	}
}
