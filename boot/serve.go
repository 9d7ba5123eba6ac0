package boot

import (
	"bufio"
	"errors"
	"io"
	"net"
	"time"
)

// eofPatience is how long the launcher waits for the exit code of a rank whose
// connection has ended, to have the better reason to give to the others.
const eofPatience = 200 * time.Millisecond

// session is the launcher's side of one rank's connection.
type session struct {
	rank  int
	conn  *net.UnixConn
	meet  *rendezvous
	greet welcome
	// exited is closed once the rank's process has ended.
	exited <-chan struct{}

	// The rest is written by serve and read after it has returned.
	hello, bye bool
	broken     error // why the stream was given up; matches ErrProtocol
}

// serve answers a rank until its stream ends. Once the rank's process has
// ended and conn.CloseRead was called, it returns after what is left in the
// stream.
func (s *session) serve() {
	err := s.frames()
	switch {
	case err == nil:
		s.bye = true
		s.meet.leave(s.rank, "has left the job in order")
	case errors.Is(err, ErrProtocol):
		s.broken = err
		s.meet.leave(s.rank, "sent garbage to the launcher")
		s.conn.SetWriteDeadline(time.Now().Add(leaveTimeout))
		s.conn.Write(appendFrame(nil, kindFail, appendFail(nil, err))) // it may be past listening
	default:
		select {
		case <-s.exited: // the caller knows the reason
		case <-time.After(eofPatience):
			s.meet.leave(s.rank, "closed its connection to the launcher")
		}
	}
}

// frames returns nil after bye.
func (s *session) frames() error {
	size := int(s.greet.size)
	r := bufio.NewReader(s.conn)
	for {
		kind, p, err := readFrame(r, size)
		if err != nil {
			return err
		}
		switch {
		case kind == kindHello:
			err = s.onHello(p)
		case !s.hello:
			err = protocolError("frame of kind %d before hello", kind)
		case kind == kindOffer:
			err = s.onOffer(p)
		case kind == kindBye:
			return nil
		default:
			err = protocolError("frame of kind %d from a rank", kind)
		}
		if err != nil {
			return err
		}
	}
}

func (s *session) onHello(p []byte) error {
	if s.hello {
		return protocolError("two processes take themselves for rank %d: both said hello on its connection", s.rank)
	}
	h, err := parseHello(p)
	if err != nil {
		return err
	}
	if h.rank != s.greet.rank || h.size != s.greet.size {
		return protocolError("hello from rank %d of %d on the connection of rank %d of %d", h.rank, h.size, s.greet.rank, s.greet.size)
	}
	s.hello = true
	return s.answer(kindWelcome, s.greet.append(nil))
}

func (s *session) onOffer(p []byte) error {
	number, part, err := parseOffer(p)
	if err != nil {
		return err
	}
	r, err := s.meet.join(s.rank, number, part)
	if err != nil {
		return err
	}
	select {
	case <-r.done:
	case <-s.exited:
		return nil // whatever is left in its stream is read next
	}
	if r.err != nil {
		return s.answer(kindFail, appendFail(nil, r.err))
	}
	return s.answer(kindTable, r.table)
}

// answer writes a frame. A rank that has stopped reading is seen by its exit
// and not here, so that a bye behind the failed write is still read.
func (s *session) answer(kind frameKind, payload []byte) error {
	_, err := s.conn.Write(appendFrame(nil, kind, payload))
	if errors.Is(err, net.ErrClosed) {
		return io.EOF
	}
	return nil
}
