package boot

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"time"
)

// eofPatience is how long the launcher waits for the exit code of a rank whose
// connection has ended, to have the better reason to give to the others.
const eofPatience = 200 * time.Millisecond

// session is the launcher's side of one rank's connection. One goroutine reads
// and never writes, so that an abort is heard at any time; another, the teller,
// writes replies and news.
type session struct {
	rank  int
	conn  *net.UnixConn
	meet  *rendezvous
	news  *news
	greet welcome
	// onAbort is called when the rank asks for the end of the job, once.
	onAbort func(code byte, why string)
	// exited is closed once the rank's process has ended.
	exited <-chan struct{}

	rounds chan *round   // joined, to be answered
	over   chan struct{} // closed once nothing is to be told any more
	teller sync.WaitGroup

	// The rest is written by serve and read after it has returned.
	hello, bye, aborted bool
	broken              error // why the stream was given up; matches ErrProtocol
}

func newSession(conn *net.UnixConn, greet welcome, meet *rendezvous, news *news, exited <-chan struct{}) *session {
	return &session{
		rank: int(greet.rank), conn: conn, meet: meet, news: news, greet: greet, exited: exited,
		rounds: make(chan *round, 1), over: make(chan struct{}),
	}
}

// serve answers a rank until its stream ends. Once the rank's process has
// ended, conn.CloseRead was called and writing has a deadline in the past, it
// returns after what is left in the stream.
func (s *session) serve() {
	err := s.frames()
	switch {
	case err == nil:
		s.bye = true
		s.meet.leave(s.rank, "has left the job in order")
	case errors.Is(err, ErrProtocol):
		s.broken = err
		s.meet.leave(s.rank, "sent garbage to the launcher")
		s.conn.SetWriteDeadline(time.Now().Add(leaveTimeout)) // it may be past listening
	default:
		select {
		case <-s.exited: // the caller knows the reason
		case <-time.After(eofPatience):
			s.meet.leave(s.rank, "closed its connection to the launcher")
		}
	}
	close(s.over)
	s.teller.Wait()
	if s.broken != nil {
		s.write(appendFrame(nil, kindFail, appendFail(nil, s.broken)))
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
		case kind == kindAbort:
			err = s.onAbortFrame(p)
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
	s.teller.Go(s.tell)
	return nil
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
	case s.rounds <- r:
	case <-s.exited: // whatever is left in its stream is read next
	}
	return nil
}

func (s *session) onAbortFrame(p []byte) error {
	code, why, err := parseAbort(p)
	if err == nil && !s.aborted {
		s.aborted = true
		s.onAbort(code, why)
	}
	return err
}

// tell welcomes the rank, then writes what comes up for it until the session
// is over: news, those of the past first, and the results of rounds.
func (s *session) tell() {
	s.write(appendFrame(nil, kindWelcome, s.greet.append(nil)))
	var (
		told int           // news
		r    *round        // that the rank waits for
		done chan struct{} // of r
	)
	for {
		all, more := s.news.since(told)
		for _, n := range all {
			if n.rank != s.rank {
				s.write(n.frame)
			}
		}
		told += len(all)
		rounds := s.rounds
		if r != nil {
			rounds = nil // one after the other
		}
		select {
		case <-more:
		case r = <-rounds:
			done = r.done
		case <-done:
			if r.err != nil {
				s.write(appendFrame(nil, kindFail, appendFail(nil, r.err)))
			} else {
				s.write(appendFrame(nil, kindTable, r.table))
			}
			r, done = nil, nil
		case <-s.over:
			return
		}
	}
}

// write writes a frame. A rank that has stopped reading is seen by its exit
// and not here, so that a bye or an abort behind the failed write is still
// read.
func (s *session) write(frame []byte) { s.conn.Write(frame) }
