package tcp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// sealed encrypts what a connection sends and receives. A conn that has one calls it
// where others call the kernel, and by the same rules: bytes that it accepts are as
// good as sent, and it never waits. From open on it belongs to the owner.
//
// Records that the kernel has not accepted are in out. While there are any, no more
// bytes are accepted, so they are few.
type sealed struct {
	tls *tls.Conn
	under

	// more says that TLS may hold bytes that were read from the socket. The epoll
	// does not tell of those: they are read until the socket has no more.
	more bool
	err  error // why nothing more comes
}

// under is what TLS reads and writes: the connection of the greeting and, once it is
// open, the owner's socket.
type under struct {
	net.Conn
	pool  *buffers // nil until it is open
	fd    int      // while TLS reads
	heard bool     // something has come since the last look
	out   []byte   // from sent on
	sent  int
}

// recordSize is what one record carries at most, and recordCost what it adds.
const (
	recordSize = 16 << 10
	recordCost = 5 + 1 + 16
)

// sealChunk is how many bytes are encrypted before they are written. sealMost is
// more than TLS holds of what it has read.
const (
	sealChunk = 64 << 10
	sealMost  = 256 << 10
)

var (
	errNoRoom  = errors.New("the peer makes this rank reply to more than it takes")
	errAltered = errors.New("what has come is not what the peer has sent")
)

func newSealed(conn net.Conn) *sealed { return &sealed{under: under{Conn: conn}} }

// open makes the sealed one of a socket, with the owner's buffers.
func (s *sealed) open(pool *buffers) { s.pool, s.more = pool, true }

// left is how many bytes of records wait for the kernel.
func (u *under) left() int { return len(u.out) - u.sent }

func (u *under) Read(b []byte) (int, error) {
	if u.pool == nil {
		return u.Conn.Read(b)
	}
	// TLS goes on after an errno that says of itself that it is temporary.
	n, errno := receiveOne(u.fd, b)
	switch {
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, io.EOF
	}
	u.heard = true
	return n, nil
}

func (u *under) Write(b []byte) (int, error) {
	if u.pool == nil {
		return u.Conn.Write(b)
	}
	if u.out == nil {
		u.out = u.pool.take()[:0]
	}
	if len(u.out)+len(b) > cap(u.out) {
		return 0, errNoRoom
	}
	u.out = append(u.out, b...)
	return len(b), nil
}

// flush writes the records that wait. It returns again if the kernel has no room for
// all of them.
func (u *under) flush(fd int) unix.Errno {
	for u.left() > 0 {
		n, errno := sendOne(fd, u.out[u.sent:])
		if errno != 0 {
			return errno
		}
		u.sent += n
	}
	u.forget()
	return 0
}

// forget gives the buffer of records back.
func (u *under) forget() {
	if u.out != nil {
		u.pool.put(u.out)
		u.out, u.sent = nil, 0
	}
}

// send is vector.send.
func (s *sealed) send(fd int, parts *[3][]byte) (total int, errno unix.Errno) {
	if errno := s.flush(fd); errno != 0 {
		return 0, errno
	}
	room := sealChunk
	for _, b := range parts {
		for len(b) > 0 {
			if room == 0 {
				if errno := s.flush(fd); errno == again {
					return total, 0
				} else if errno != 0 {
					return total, errno
				}
				room = sealChunk
			}
			k := min(len(b), room)
			if _, err := s.tls.Write(b[:k]); err != nil {
				return total, unix.EPROTO
			}
			b, room, total = b[k:], room-k, total+k
		}
	}
	if errno := s.flush(fd); errno != 0 && errno != again {
		return total, errno
	}
	return total, 0
}

// receive is vector.receive. It fills the parts as far as it can.
func (s *sealed) receive(fd int, parts *[3][]byte) (total int, errno unix.Errno) {
	s.fd, s.more = fd, false
	for _, b := range parts {
		for len(b) > 0 {
			if s.err == nil {
				var n int
				n, s.err = s.tls.Read(b)
				b, total = b[n:], total+n
			}
			if s.err == nil {
				continue
			}
			errno, _ := errors.AsType[unix.Errno](s.err)
			if errno == again || errno == unix.EINTR {
				s.err = nil
			} else if total > 0 {
				s.more = true // the next call tells of the end
			}
			if total > 0 {
				return total, 0
			}
			switch {
			case errno != 0:
				return 0, errno
			case errors.Is(s.err, io.EOF), errors.Is(s.err, io.ErrUnexpectedEOF):
				return 0, 0
			}
			return 0, unix.EPROTO
		}
	}
	s.more = true
	return total, 0
}

// What a conn does with its socket goes through its sealed, if it has one.

func (c *conn) send(parts *[3][]byte) (int, unix.Errno) {
	if c.seal == nil {
		return c.vec.send(c.fd, parts)
	}
	return c.seal.send(c.fd, parts)
}

func (c *conn) sendOne(b []byte) (int, unix.Errno) {
	if c.seal == nil {
		return sendOne(c.fd, b)
	}
	return c.seal.send(c.fd, &[3][]byte{b})
}

func (c *conn) receive(parts *[3][]byte) (int, unix.Errno) {
	if c.seal == nil {
		return c.vec.receive(c.fd, parts)
	}
	n, errno := c.seal.receive(c.fd, parts)
	if c.seal.heard { // part of a record, perhaps: the peer is not silent
		c.seal.heard, c.pulse.silent = false, 0
	}
	return n, errno
}

func (c *conn) receiveOne(b []byte) (int, unix.Errno) {
	if c.seal == nil {
		return receiveOne(c.fd, b)
	}
	return c.receive(&[3][]byte{b})
}

// broken is why a socket that says errno has nothing more.
func (c *conn) broken(errno unix.Errno) error {
	if c.seal == nil || errno != unix.EPROTO {
		return errno
	}
	return &fabric.Error{Op: "receive over TCP", Peer: c.e.peer, HasPeer: true,
		Err: fmt.Errorf("%w: %w: %w", fabric.ErrPeerDown, errAltered, c.seal.err)}
}

// waiting is how many bytes have yet to be given to the kernel; with TLS, not less
// than that.
func (c *conn) waiting() int {
	n := len(c.head) + len(c.tail) + len(c.staged) - c.sent
	if c.seal != nil && n > 0 {
		n += (n/recordSize + 4) * recordCost
	}
	if c.seal != nil {
		n += c.seal.left()
	}
	return n
}
