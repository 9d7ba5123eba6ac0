package peek

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weft-mpi/weft/internal/strangers"
)

// Answer is what a rank answers to one question.
type Answer struct {
	// Patience is how long a reply waits for Give; 0 is as long as it takes. Then the
	// reply says that the owner is busy, Give goes on, and its result is dropped.
	Patience time.Duration
	// Give returns what becomes the Body. It is called by one goroutine at a time, which
	// is none of the program's. It may wait for the owner of the loop.
	Give func() (any, error)
}

// Config is what a Server says and answers.
type Config struct {
	About
	Key     Key
	Answers map[string]Answer
	// Last is what the rank says as it leaves its job (Farewell). It may be empty.
	Last Answer
	// Behind returns since when the owner of the loop is known not to have come, or 0; it
	// may be nil.
	Behind func() time.Duration
}

// maxAtOnce bounds the connections that a rank serves at a time; others wait.
const maxAtOnce = 8

// Server replies for one rank, from Serve to Close. It is safe for concurrent use.
type Server struct {
	cfg     Config
	at      *net.UnixListener
	lanes   map[string]*lane
	places  chan struct{}
	serving sync.WaitGroup

	mu    sync.Mutex
	conns map[*net.UnixConn]struct{} // nil: closed
	ends  chan struct{}              // closed by Close
}

// lane lets one goroutine at a time give an answer.
type lane struct {
	free  chan struct{} // holds a token while nobody does
	mu    sync.Mutex
	since time.Time // when it began
}

// Serve begins to reply for a rank. PID, Parent, Program and Started of About are filled
// in. The error is that of the socket. Local.
func Serve(cfg Config) (*Server, error) {
	name := NameOf(cfg.Key, cfg.Job, cfg.Rank)
	if !name.valid() {
		return nil, fmt.Errorf("listen for questions about rank %d of job %q: this makes no name of a socket", cfg.Rank, cfg.Job)
	}
	cfg.PID, cfg.Parent, cfg.Started = os.Getpid(), os.Getppid(), time.Now()
	cfg.Program = cut(strings.Join(os.Args, " "), 200)
	at, err := strangers.Listen("unix", name.socket())
	if err != nil {
		return nil, fmt.Errorf("listen for questions about the rank: %w", err)
	}
	s := &Server{cfg: cfg, at: at, lanes: map[string]*lane{}, places: make(chan struct{}, maxAtOnce), conns: map[*net.UnixConn]struct{}{}, ends: make(chan struct{})}
	for _, q := range append(slices.Collect(maps.Keys(cfg.Answers)), last) {
		s.lanes[q] = &lane{free: make(chan struct{}, 1)}
		s.lanes[q].free <- struct{}{}
	}
	s.serving.Go(s.accept)
	return s, nil
}

func cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// Close ends the socket and the connections. It waits for the goroutines that serve
// those, and for no answer. For nil, and called again, it does nothing.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	if s.conns != nil {
		close(s.ends)
	}
	for c := range s.conns {
		c.Close()
	}
	s.conns = nil // before accept finds the end
	s.mu.Unlock()
	s.at.Close()
	s.serving.Wait()
}

func (s *Server) accept() {
	for {
		s.places <- struct{}{}
		c, err := s.at.AcceptUnix()
		if err != nil { // also where descriptors have run out: then the rank is silent
			<-s.places
			if s.over() {
				return
			}
			time.Sleep(acceptPause)
			continue
		}
		s.serving.Go(func() {
			defer func() { <-s.places }()
			if s.open(c) {
				s.serve(c)
				s.done(c)
			}
		})
	}
}

// acceptPause is how long a rank without descriptors waits for one.
const acceptPause = 100 * time.Millisecond

func (s *Server) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns == nil
}

// open notes a connection, for Close, unless the server is closed.
func (s *Server) open(c *net.UnixConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		c.Close()
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) done(c *net.UnixConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	c.Close()
}

// serve replies to one question. A stranger is told nothing.
func (s *Server) serve(c *net.UnixConn) {
	cred, err := strangers.Peer(c)
	if err != nil || !mayAsk(cred.Uid) {
		return
	}
	c.SetReadDeadline(time.Now().Add(questionIn))
	line, err := readLine(c, maxQuestion)
	if err != nil {
		return
	}
	r := Reply{Version: Version, About: s.cfg.About}
	var q question
	switch err := json.Unmarshal(line, &q); {
	case err != nil:
		r.Error = fmt.Sprintf("the question is no JSON: %v", err)
	case q.Version != Version:
		r.Error = fmt.Sprintf("the question is of version %d, and the rank is of version %d", q.Version, Version)
	default:
		s.answer(q.Ask, &r)
	}
	c.SetWriteDeadline(time.Now().Add(replyIn))
	c.Write(s.encode(&r)) // whoever has asked sees a reply that is cut off
}

// encode makes a line of a reply.
func (s *Server) encode(r *Reply) []byte {
	text, err := json.Marshal(r)
	if err == nil && len(text) >= maxReply {
		err = errTooLong
	}
	if err != nil {
		text, _ = json.Marshal(&Reply{Version: Version, About: s.cfg.About, Error: fmt.Sprintf("the answer can't be sent: %v", err)})
	}
	return append(text, '\n')
}

// answer fills in the answer to a question.
func (s *Server) answer(ask string, r *Reply) {
	a, ok := s.cfg.Answers[ask]
	if !ok {
		r.Error = fmt.Sprintf("there is no question %q: it is one of %s", ask, strings.Join(slices.Sorted(maps.Keys(s.cfg.Answers)), ", "))
		return
	}
	s.give(a, s.lanes[ask], r)
}

// give has an answer given, in its lane.
func (s *Server) give(a Answer, l *lane, r *Reply) {
	var late <-chan time.Time
	if a.Patience > 0 {
		t := time.NewTimer(a.Patience)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-l.free: // however late it is
	default:
		select {
		case <-l.free:
		case <-late:
			r.Busy = s.behind(l)
			return
		case <-s.ends:
			return
		}
	}
	l.mu.Lock()
	l.since = time.Now()
	l.mu.Unlock()
	type result struct {
		body json.RawMessage
		err  error
	}
	given := make(chan result, 1)
	go func() {
		var x result
		defer func() {
			if v := recover(); v != nil {
				x = result{nil, fmt.Errorf("the answer has failed: %v", v)}
			}
			l.free <- struct{}{}
			given <- x
		}()
		body, err := a.Give()
		if err == nil {
			x.body, err = json.Marshal(body)
		}
		x.err = err
	}()
	select {
	case x := <-given:
		if r.Body = x.body; x.err != nil {
			r.Error = x.err.Error()
		}
	case <-late:
		r.Busy = s.behind(l)
	case <-s.ends: // so is the connection
	}
}

// behind is for how many seconds, as far as is known, the owner has not come.
func (s *Server) behind(l *lane) float64 {
	l.mu.Lock()
	d := time.Since(l.since)
	l.mu.Unlock()
	if s.cfg.Behind != nil {
		d = max(d, s.cfg.Behind())
	}
	return d.Seconds()
}
