package launch

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"time"
)

// eofPatience is how long the launcher waits for the exit of a rank that has
// closed its connection: the exit status is a better reason to give to the
// other ranks. It is a variable so that in tests it is enough whatever else the
// machine does.
var eofPatience = 200 * time.Millisecond

// session is the launcher's side, or that of rank 0 (root.go), of one rank's connection. One goroutine reads
// and never writes, so that an abort is read at any time. Another, the teller,
// writes replies and news.
type session struct {
	rank  int
	conn  net.Conn
	meet  *rendezvous
	news  *news
	greet welcome
	// onAbort is called once, when the rank aborts the job.
	onAbort func(code byte, why string)
	// exited is closed once the rank's process has exited.
	exited <-chan struct{}
	// onLeave, unless nil, is called once, when the rank joins no further round.
	onLeave func(from uint64, reason string)

	rounds chan *round   // joined by the rank; the teller sends the result
	over   chan struct{} // closed when the teller is to return
	teller sync.WaitGroup

	// The rest is written by serve and read after it has returned.
	hello, bye, aborted bool
	rests               bool  // the rank may end its stream, see Job.Rest
	after               int   // see report
	broken              error // why the rank's stream is read no further; an ErrProtocol
}

func newSession(conn net.Conn, greet welcome, meet *rendezvous, news *news, exited <-chan struct{}) *session {
	return &session{
		rank: int(greet.rank), conn: conn, meet: meet, news: news, greet: greet, exited: exited,
		rounds: make(chan *round, 1), over: make(chan struct{}),
	}
}

// serve serves a rank until its stream ends. Once the rank's process has
// exited, the caller calls conn.CloseRead and sets a write deadline in the
// past; serve then reads the rest of the stream and returns.
func (s *session) serve() {
	err := s.frames()
	switch {
	case err == nil:
		s.bye = true
		s.leave("has left the job in order")
	case errors.Is(err, ErrProtocol):
		s.broken = err
		s.leave("sent garbage to the launcher")
		s.conn.SetWriteDeadline(time.Now().Add(leaveTimeout)) // the rank may have stopped reading
	default:
		select {
		case <-s.exited: // the caller knows the reason
		case <-time.After(eofPatience):
			s.leave("closed its connection to the launcher")
		}
	}
	close(s.over)
	s.teller.Wait()
	if s.broken != nil {
		s.write(appendFrame(nil, kindFail, appendFail(nil, s.broken)))
	}
}

// leave records that the rank joins no further round.
func (s *session) leave(reason string) {
	if from, first := s.meet.leave(s.rank, reason); first && s.onLeave != nil {
		s.onLeave(from, reason)
	}
}

// frames returns nil after bye, and at the end of the stream of a rank that rests.
func (s *session) frames() error {
	size := int(s.greet.size)
	r := bufio.NewReader(s.conn)
	for {
		kind, p, err := readFrame(r, size)
		switch {
		case s.rests && err != nil && !errors.Is(err, ErrProtocol):
			return nil
		case err != nil:
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
		case kind == kindRest:
			s.rests, err = parseRest(p)
		case kind == kindBlame:
			var rank int
			rank, err = parseBlame(p, size)
			s.after = 1 + rank
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

// tell writes welcome, then, until the session is over, news and the results of
// rounds. News from before the session come first.
func (s *session) tell() {
	s.write(appendFrame(nil, kindWelcome, s.greet.append(nil)))
	var (
		told int           // news written
		r    *round        // the round that the rank waits for, or nil
		done chan struct{} // of r, or nil
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
			rounds = nil // one round at a time
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

// write writes a frame and ignores errors: the exit of a rank shows that it has
// stopped reading. A bye or an abort that the rank has sent is then still read.
func (s *session) write(frame []byte) { s.conn.Write(frame) }
