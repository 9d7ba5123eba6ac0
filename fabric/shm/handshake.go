package shm

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// A greeting joins two ranks by one segment, which holds the ring of either:
//
//	dialler                           answerer
//	makes the segment; hello  ->
//	                                  checks, maps
//	                          <-      hello
//	checks, maps
//	settled = 1; hangs up     ->      looks at settled
//
// Each side has all that it needs before it confirms. The answerer polls the
// dialler's ring before it answers, and has the ring if it is to end the peer:
// once the dialler has settled it may write to the answerer's memory. The
// answerer sends nothing before the dialler has hung up and has settled. A
// dialler that fails after the answer, closes or dies hangs up without settling:
// then there is no connection on either side.
//
// Two ranks that dial each other at once make one connection, by the dial of the
// lower rank. The lower rank holds the other's dial until its own has ended,
// then replies that they are connected already, or why they can't be. The higher
// rank replies at once, and gives its own dial up when the other's has settled.

// handshake is one greeting, on one side.
type handshake struct {
	number  int32
	pid     int // of the process at the other end, once it is trusted
	fd      int
	state   handshakeState
	looked  bool // epoll looks at fd
	peer    fabric.Peer
	known   bool // peer is
	begun   time.Time
	due     time.Time     // when again is to be called
	pause   time.Duration // before the next try
	said    bool          // that it takes long
	mine    bool          // this rank is the dialler
	segFD   int           // of the segment, until it is on its way; else -1
	seg     []byte        // both rings
	info    *peerInfo
	fenced  bool
	hello   hello
	settled *uint32 // the answerer's, once the domain has the segment
	waiting []int   // what came with the greeting that is held
}

type handshakeState int

const (
	reaching  handshakeState = iota // the dialler's connection is not taken yet
	offering                        // its greeting is not
	awaiting                        // the answer
	hearing                         // the answerer: the greeting
	holding                         // it has come, and is not answered yet
	answering                       // the answer is not taken yet
	settling                        // it is
)

func (g *greeter) begin(fd int, s handshakeState) *handshake {
	g.last++
	c := &handshake{number: g.last, fd: fd, state: s, segFD: -1, begun: time.Now(), pause: pauseMin}
	g.calls[c.number] = c
	c.due = c.begun.Add(g.d.slow)
	g.due(c.due)
	return c
}

// rings are the two halves of the segment: the dialler's ring is the first.
func (c *handshake) rings() (tx, rx []byte) {
	half := len(c.seg) / 2
	first, second := c.seg[:half:half], c.seg[half:]
	if c.mine {
		return first, second
	}
	return second, first
}

// end ends a call and releases what it still has.
func (g *greeter) end(c *handshake) {
	delete(g.calls, c.number)
	if c.fd >= 0 {
		unix.Close(c.fd)
	}
	if c.segFD >= 0 {
		unix.Close(c.segFD)
	}
	closeAll(c.waiting)
	if c.info != nil {
		c.info.close()
	}
	if c.seg != nil {
		unix.Munmap(c.seg)
	}
	c.fd, c.segFD, c.waiting, c.info, c.seg = -1, -1, nil, nil, nil
	m := g.known(c.peer)
	switch c {
	case m.out:
		m.out = nil
		g.active--
	case m.in:
		m.in = nil
	case m.held:
		m.held = nil
	}
}

// drop ends a call that makes no connection.
func (g *greeter) drop(c *handshake, why error) {
	m, p := g.known(c.peer), c.peer
	switch {
	case errors.Is(why, fabric.ErrClosed): // the domain leaves those that it knows
		g.end(c)
	case c.mine:
		held := m.held
		g.end(c)
		if m.in != nil {
			return // settles, or ends and dials again
		}
		g.unmet(p, why)
		if held != nil {
			g.refuse(held, why)
		}
	default:
		if !hasGone(why) {
			g.log.Tell(slog.LevelWarn, "shm: a connection was refused", "err", why)
		}
		if c.settled != nil {
			g.d.post(event{peer: p, undone: true})
		}
		g.end(c)
		if c.known {
			g.want(p)
		}
	}
}

// lookAt makes epoll call heard when a packet arrives or the other side hangs
// up.
func (g *greeter) lookAt(c *handshake) error {
	if c.looked {
		return nil
	}
	if err := g.look(c.fd, unix.EPOLLIN|unix.EPOLLRDHUP, aboutCall, c.number); err != nil {
		return fmt.Errorf("wait for a greeting: %w", err)
	}
	c.looked = true
	return nil
}

// heard is called when a packet has arrived for a call.
func (g *greeter) heard(c *handshake) {
	switch c.state {
	case hearing, awaiting:
		var err error
		if c.state == hearing && !c.looked {
			// A stranger is not listened to at all.
			if c.pid, err = trusted(c.fd); err != nil {
				g.log.Tell(slog.LevelWarn, "shm: a process of another user was refused", "err", err)
				g.end(c)
				return
			}
		}
		you, fds, err := g.receive(c.fd)
		if errors.Is(err, unix.EAGAIN) {
			if err = g.lookAt(c); err == nil {
				return
			}
		}
		switch {
		case errors.Is(err, unix.EMFILE) && !c.mine: // only this rank knows it
			closeAll(fds)
			g.refuse(c, err)
		case err != nil:
			closeAll(fds)
			g.drop(c, err)
		case c.mine:
			g.answered(c, &you, fds)
		default:
			g.greeted(c, you, fds)
		}
	case settling:
		g.settle(c)
	case holding, answering:
		g.drop(c, errHungUp) // or speaks out of turn
	}
}

// again is called when a call is due.
func (g *greeter) again(c *handshake) {
	switch c.state {
	case reaching:
		g.reach(c)
	case offering:
		g.offer(c)
	case answering:
		g.answer(c)
	default:
		g.more(c)
	}
}
