package tcp

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// conn is a connection with a peer. It belongs to the owner.
//
// What is to be written comes in this order: the rest of the piece under way, what
// is staged, then the next piece of the first job. So messages wait for one piece
// at most.
type conn struct {
	e    *endpoint
	fd   int
	seal *sealed // nil where nothing is encrypted
	vec  vector
	bulk bool // for data, not for messages

	// Output.
	head    []byte // rest of the header of the piece under way, of headBuf
	tail    []byte // rest of its body
	headBuf [maxHead]byte
	staged  []byte // frames that the kernel has not accepted, from sent on
	sent    int
	jobs    jobQueue
	blocked bool // the kernel has no room, and the epoll tells when it has
	sending bool // in Domain.sending

	// Input: in[r:w] is to be parsed.
	in   []byte
	r, w int
	full bool // take has left whole frames
	// The body that is read next: into, or nowhere, for skip bytes. then is what
	// follows it.
	into  []byte
	skip  int
	then  after
	eof   error // the input has ended, and why
	over  bool  // nothing more of it is taken: the peer has ended this rank, or broken the protocol
	pulse pulse
	hot   bool  // in Domain.hot
	place int32 // in Domain.conns
	idle  uint8 // Polls in a row that found nothing
}

// after is what is to be done when the body of a frame has been read.
type after struct {
	form form
	id   uint64
	n    uint64 // bytes of the body
	key  uint64 // of the region that a Put writes
	last bool
	bad  bool // a Put that was rejected
}

func newConn(e *endpoint, fd int, bulk bool) *conn {
	return &conn{e: e, fd: fd, bulk: bulk}
}

// clear reports whether nothing waits to be written before a new frame.
func (c *conn) clear() bool {
	return len(c.staged) == 0 && len(c.head) == 0 && len(c.tail) == 0 && (c.seal == nil || c.seal.left() == 0)
}

// room reports whether n bytes can be staged.
func (c *conn) room(n int) bool {
	if c.staged == nil {
		c.staged = c.e.d.buffers.take()[:0]
	}
	if len(c.staged)+n <= cap(c.staged) {
		return true
	}
	if c.sent > 0 {
		rest := copy(c.staged, c.staged[c.sent:])
		c.staged, c.sent = c.staged[:rest], 0
	}
	return len(c.staged)+n <= cap(c.staged)
}

// stage appends a frame; there is room for it.
func (c *conn) stage(h header, more, body []byte) {
	at := len(c.staged)
	c.staged = c.staged[:at+headerSize]
	h.put(c.staged[at:])
	c.staged = append(append(c.staged, more...), body...)
	c.wantSend()
}

// wantSend has the Poll write what is left.
func (c *conn) wantSend() {
	if !c.sending {
		c.sending = true
		c.e.d.sending = append(c.e.d.sending, c)
	}
}

// again is what a socket says that has nothing, or no room.
const again = unix.EAGAIN

// write writes as much as the kernel accepts, at most about most bytes, and
// returns how much that was.
func (c *conn) write(most int) (total int, err error) {
	for total < most {
		if len(c.head) == 0 && len(c.tail) == 0 && c.jobs.len() > 0 {
			c.nextPiece()
		}
		// Staged frames go behind the piece under way. A piece that has not
		// begun goes behind them.
		var parts [3][]byte
		begun := len(c.head) < c.jobs.headLen
		tail := c.tail[:min(len(c.tail), most)]
		switch {
		case !begun && len(c.staged) > c.sent:
			parts = [3][]byte{c.staged[c.sent:], c.head, tail}
		case len(tail) == len(c.tail):
			parts = [3][]byte{c.head, tail, c.staged[c.sent:]}
		default:
			parts = [3][]byte{c.head, tail}
		}
		want := len(parts[0]) + len(parts[1]) + len(parts[2])
		if want == 0 {
			c.unstage()
			if c.seal != nil {
				if errno := c.seal.flush(c.fd); errno == again {
					c.block()
					return total, nil
				} else if errno != 0 {
					return total, errno
				}
			}
			c.unblock()
			return total, nil
		}
		n, errno := c.send(&parts)
		if errno == again {
			c.block()
			return total, nil
		}
		if errno != 0 {
			return total, errno
		}
		total += n
		short := n < want
		if !begun && len(c.staged) > c.sent {
			k := min(n, len(c.staged)-c.sent)
			c.sent += k
			c.wrote(n - k)
		} else {
			c.sent += c.wrote(n)
		}
		if c.sent == len(c.staged) {
			c.unstage()
		}
		if short {
			c.block()
			return total, nil
		}
	}
	return total, nil
}

// unstage gives the buffer of what was staged back.
func (c *conn) unstage() {
	if c.staged == nil {
		return
	}
	c.e.d.buffers.put(c.staged)
	c.staged, c.sent = nil, 0
}

// wrote takes n bytes of the piece under way for written, and returns how many are
// left of n.
func (c *conn) wrote(n int) int {
	k := min(n, len(c.head))
	c.head, n = c.head[k:], n-k
	k = min(n, len(c.tail))
	c.tail, n = c.tail[k:], n-k
	if len(c.head) == 0 && len(c.tail) == 0 && c.jobs.headLen > 0 {
		c.jobs.headLen = 0
		c.pieceWritten()
	}
	return n
}

func (c *conn) block() {
	if !c.blocked {
		c.blocked = true
		c.e.d.watch(c, true)
	}
}

func (c *conn) unblock() {
	if c.blocked {
		c.blocked = false
		c.e.d.watch(c, false)
	}
}

// read reads what has come, once. It returns how many bytes, 0 where there was
// nothing; the end of the input is in eof.
func (c *conn) read() int {
	if c.eof != nil {
		return 0
	}
	switch {
	case c.in == nil:
		c.in = c.e.d.buffers.take()
	case c.r == c.w:
		c.r, c.w = 0, 0
	case c.r > 0 && len(c.in)-c.w < maxHead+maxEager:
		c.w = copy(c.in, c.in[c.r:c.w])
		c.r = 0
	}
	var n int
	var errno unix.Errno
	rest := c.in[c.w:]
	if c.bulk { // what is read here has to be copied
		rest = rest[:min(len(rest), c.skip+headMost)]
	}
	if len(c.into) > 0 && c.r == c.w {
		n, errno = c.receive(c.split(rest))
	} else if len(rest) > 0 {
		n, errno = c.receiveOne(rest)
	} else {
		return 0
	}
	switch {
	case errno == again, errno == unix.EINTR:
		c.e.d.counts.emptyReads++
		return 0
	case errno != 0:
		c.eof = c.broken(errno)
		return 0
	case n == 0:
		c.eof = io.EOF
		return 0
	}
	if len(c.into) > 0 && c.r == c.w {
		k := min(n, len(c.into))
		c.into = c.into[k:]
		c.w += n - k
	} else {
		c.w += n
	}
	return n
}

// split is what a read fills: the body that is read next and, if that is short,
// the buffer behind it.
func (c *conn) split(rest []byte) *[3][]byte {
	if most := c.e.d.share(); len(c.into) > most {
		return &[3][]byte{c.into[:most]}
	}
	return &[3][]byte{c.into, rest}
}

// unread gives the buffer of the input back if nothing is left in it.
func (c *conn) unread() {
	if c.r == c.w && c.in != nil {
		c.e.d.buffers.put(c.in)
		c.in, c.r, c.w = nil, 0, 0
	}
}

var errProtocol = errors.New("it has broken the protocol")

// badFrame is why a peer is ended that sends what no rank sends.
func (c *conn) badFrame() error {
	return &fabric.Error{Op: "receive over TCP", Peer: c.e.peer, HasPeer: true, Err: errors.Join(fabric.ErrPeerDown, errProtocol)}
}
