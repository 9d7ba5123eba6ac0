package shm

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// greeted takes the greeting of a peer that has dialled this rank.
func (g *greeter) greeted(c *handshake, you hello, fds []int) {
	me := g.d.greeting()
	err := me.accepts(&you)
	switch {
	case err != nil:
	case you.rank == me.rank:
		err = fmt.Errorf("rank %d greets rank %d", you.rank, me.rank)
	case len(fds) != maxFDs:
		err = errors.New("the peer sent too few descriptors")
	}
	if err != nil {
		closeAll(fds)
		g.refuse(c, err)
		return
	}
	c.peer, c.known, c.hello, c.waiting = fabric.Peer(you.rank), true, you, fds
	if c.said {
		g.d.cfg.Log.Info("shm: the process has answered", "rank", c.peer, "after", time.Since(c.begun).Round(time.Millisecond))
	}
	m := g.known(c.peer)
	if in := m.in; in != nil { // it may have hung up, which is handled later in this round
		if _, _, _, err := rawReceive(in.fd, g.buf[:], nil); !errors.Is(err, unix.EAGAIN) {
			g.heard(in)
		}
	}
	switch {
	case m.failed != nil:
		g.refuse(c, m.failed)
	case m.over, m.in != nil, m.held != nil:
		g.connectedAlready(c)
	case m.out != nil && me.rank < you.rank:
		c.state = holding
		m.held = c
		if err := g.lookAt(c); err != nil {
			g.refuse(c, err)
		}
	default:
		g.welcome(c)
	}
}

// welcome takes a peer's greeting and its descriptors, and replies.
func (g *greeter) welcome(c *handshake) {
	you, me := c.hello, g.d.greeting()
	var err error
	if c.info, err = g.meet(c, &you, c.waiting); err == nil {
		c.seg, err = mapSegment(c.waiting[fdRings], g.d.ringPair())
	}
	if err == nil {
		err = g.watch(c)
	}
	if err == nil {
		err = g.lookAt(c)
	}
	if err != nil {
		g.refuse(c, err)
		return
	}
	closeAll(c.waiting)
	c.waiting = nil
	c.fenced = !me.membarrier || !you.membarrier
	settled := word(c.seg, offSettled)
	if !g.handOver(c, true) {
		why := errEnded
		if g.d.closed.Load() {
			why = errAbsent
		}
		g.refuse(c, why)
		return
	}
	c.hello, c.state, c.settled = me, answering, settled
	g.known(c.peer).in = c
	g.answer(c)
}

func (g *greeter) answer(c *handshake) {
	d := g.d
	err := g.send(c, d.controlFD, d.bellFD, d.arena.fd())
	switch {
	case errors.Is(err, unix.ETOOMANYREFS):
		g.later(c)
	case err != nil:
		g.drop(c, err)
	default:
		c.state = settling
		c.due = c.begun.Add(d.slow)
		g.due(c.due)
	}
}

// refuse sends a dialler the reason why there will be no connection.
func (g *greeter) refuse(c *handshake, why error) {
	me := g.d.greeting()
	me.refusal = why.Error()
	if err := sendHello(c.fd, &me); err != nil && !hasGone(err) {
		why = errors.Join(why, err)
	}
	g.drop(c, why)
}

// connectedAlready tells a dialler that its dial is not needed.
func (g *greeter) connectedAlready(c *handshake) {
	me := g.d.greeting()
	me.already = true
	sendHello(c.fd, &me) // a dialler that has hung up needs no reply
	g.end(c)
}

// settle is called when the dialler has hung up after the reply.
func (g *greeter) settle(c *handshake) {
	// Pairs with answered.
	if atomic.LoadUint32(c.settled) != 1 {
		g.drop(c, errHungUp)
		return
	}
	m := g.known(c.peer)
	m.over = true
	g.d.post(event{peer: c.peer, stands: true})
	g.end(c)
	if m.out != nil {
		g.end(m.out)
	}
}
