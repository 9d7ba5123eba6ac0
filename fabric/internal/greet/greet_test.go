package greet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// patience is when a test calls something hung: many times what it takes.
const patience = 5 * time.Minute

func self(rank uint32) *Self {
	return &Self{Magic: [8]byte([]byte("testtest")), Version: 3, Rank: rank, Size: 2, Job: "job"}
}

// meet has two ranks greet, and returns what each is told in the end.
func meet(t *testing.T, dials, answers *Self, known, token Token, consider func(uint32, []byte) ([]byte, error)) (answer []byte, derr, aerr error) {
	t.Helper()
	a, b := net.Pipe()
	a.SetDeadline(time.Now().Add(patience))
	b.SetDeadline(time.Now().Add(patience))
	done := make(chan error)
	go func() {
		err := answers.Answer(b, token, consider)
		b.Close()
		done <- err
	}()
	answer, derr = dials.Dial(a, 1, known, func() ([]byte, error) { return []byte("offer"), nil })
	if derr == nil {
		derr = Ready(a)
	}
	a.Close()
	return answer, derr, <-done
}

func TestTwoRanksHearWhatTheOtherSays(t *testing.T) {
	token := NewToken()
	answer, derr, aerr := meet(t, self(0), self(1), token, token, func(rank uint32, offer []byte) ([]byte, error) {
		if rank != 0 || string(offer) != "offer" {
			t.Errorf("rank %d offers %q", rank, offer)
		}
		return []byte("answer"), nil
	})
	if string(answer) != "answer" || derr != nil || aerr != nil {
		t.Errorf("%q, %v, %v", answer, derr, aerr)
	}
}

func TestWhoIsNotOfTheJobIsToldNothing(t *testing.T) {
	token := NewToken()
	for name, c := range map[string]struct {
		change func(*Self)
		known  Token
		want   string // of the dialer's error
	}{
		"another token":      {func(*Self) {}, NewToken(), "answers no greeting"},
		"another job":        {func(s *Self) { s.Job = "other" }, token, "answers no greeting"},
		"a key":              {func(s *Self) { s.Key[0]++ }, token, "answers no greeting"},
		"another transport":  {func(s *Self) { s.Magic[0]++ }, token, "answers no greeting"},
		"another version":    {func(s *Self) { s.Version++ }, token, "answers no greeting"},
		"another size":       {func(s *Self) { s.Size++ }, token, "rank 1 of 2 answers"},
		"the same rank":      {func(s *Self) { s.Rank = 1 }, token, "rank 1 of 2 calls rank 1 of 2"},
		"a rank of no job":   {func(s *Self) { s.Rank = 2 }, token, "rank 2 of 2 calls rank 1 of 2"},
		"nothing is changed": {func(*Self) {}, token, ""},
	} {
		dials, considered := self(0), false
		c.change(dials)
		_, derr, aerr := meet(t, dials, self(1), c.known, token, func(uint32, []byte) ([]byte, error) {
			considered = true
			return nil, nil
		})
		good := c.want == ""
		if considered != good || (derr == nil) != good || (aerr == nil) != good || !good && !strings.Contains(derr.Error(), c.want) {
			t.Errorf("%s: considered %t, %v, %v; want %q", name, considered, derr, aerr, c.want)
		}
	}
}

func TestTheDialerChecksWhoAnswers(t *testing.T) {
	token := NewToken()
	for name, change := range map[string]func(*Self){
		"another rank": func(s *Self) { s.Rank = 2 }, "another job": func(s *Self) { s.Job = "x" }, "another version": func(s *Self) { s.Version++ },
	} {
		dials, answers := self(0), self(1)
		dials.Size, answers.Size = 3, 3
		change(answers)
		if _, derr, aerr := meet(t, dials, answers, token, token, func(uint32, []byte) ([]byte, error) { return nil, nil }); derr == nil || aerr == nil {
			t.Errorf("%s: %v, %v", name, derr, aerr)
		}
	}
}

// overheard is both directions of a greeting as its dialer hears and says them.
type overheard struct {
	io.ReadWriter
	said [][]byte
}

func (o *overheard) Write(b []byte) (int, error) {
	o.said = append(o.said, bytes.Clone(b))
	return o.ReadWriter.Write(b)
}

// stranger greets with b and answers the listener's proof with what prove makes of
// it; it reports whether it is considered.
func stranger(t *testing.T, token Token, b []byte, prove func(greeting, proof []byte) []byte) (considered bool) {
	t.Helper()
	c, l := net.Pipe()
	c.SetDeadline(time.Now().Add(patience))
	done := make(chan error, 1)
	go func() {
		defer l.Close()
		done <- self(1).Answer(l, token, func(uint32, []byte) ([]byte, error) { considered = true; return nil, nil })
	}()
	c.Write(b)
	heard, err := readN(c, greetingSize+proofSize)
	if err != nil {
		t.Fatal(err)
	}
	c.Write(append(prove(heard[:greetingSize], heard[greetingSize:]), 0, 0)) // with an offer of no bytes
	c.Close()
	if err := <-done; err == nil {
		t.Error("a stranger is welcome")
	}
	return considered
}

// A proof is good for one side of one greeting.
func TestAProofIsOfUseOnce(t *testing.T) {
	token := NewToken()
	if stranger(t, token, self(0).opening(1, token), func(_, proof []byte) []byte { return proof }) {
		t.Error("the listener's own proof is taken")
	}
	// One that was overheard, said again with the greeting that it belonged to.
	c, l := net.Pipe()
	o := &overheard{ReadWriter: c}
	go self(1).Answer(l, token, func(uint32, []byte) ([]byte, error) { return nil, nil })
	if _, err := self(0).Dial(o, 1, token, func() ([]byte, error) { return nil, nil }); err != nil || len(o.said) != 2 {
		t.Fatalf("%v; %d packets", err, len(o.said))
	}
	Ready(o)
	if stranger(t, token, o.said[0], func(_, _ []byte) []byte { return o.said[1][:proofSize] }) {
		t.Error("a proof is taken twice")
	}
	// The dialer, too, takes none again.
	c, l = net.Pipe()
	c.SetDeadline(time.Now().Add(patience))
	go func() {
		defer l.Close()
		readN(l, openingSize)
		me := self(1).greeting()
		l.Write(append(me, self(1).proof(token, listener, self(0).opening(1, token), me)...)) // to another greeting
	}()
	if _, err := self(0).Dial(c, 1, token, func() ([]byte, error) { t.Error("it is told something"); return nil, nil }); err == nil {
		t.Error("the proof of another greeting is taken")
	}
}

// What a peer says is read up to its bound.
func TestAPeerSaysNoMoreThanItMay(t *testing.T) {
	for what, c := range map[string]struct {
		most int
		read func(io.Reader) (int, error)
	}{
		"an offer": {MaxPayload, func(r io.Reader) (int, error) { b, err := readPayload(r); return len(b), err }},
		"a reason": {maxReason, func(r io.Reader) (int, error) { s, err := readReason(r); return len(s), err }},
	} {
		for _, n := range []int{0, c.most, c.most + 1, 1<<16 - 1} {
			b := append(binary.LittleEndian.AppendUint16(nil, uint16(n)), make([]byte, n)...)
			if got, err := c.read(bytes.NewReader(b)); (err == nil) != (n <= c.most) || err == nil && got != n {
				t.Errorf("%s of %d bytes: %d are read, %v", what, n, got, err)
			}
		}
	}
}

func TestARefusalSaysWhy(t *testing.T) {
	token := NewToken()
	long := errors.New(strings.Repeat("x", 2*maxReason))
	for want, refuse := range map[string]error{"no room": errors.New("no room"), strings.Repeat("x", maxReason): long} {
		_, derr, aerr := meet(t, self(0), self(1), token, token, func(uint32, []byte) ([]byte, error) { return nil, refuse })
		if derr == nil || derr.Error() != "the peer refuses: "+want || aerr != refuse {
			t.Errorf("%v, %v", derr, aerr)
		}
	}
	_, derr, aerr := meet(t, self(0), self(1), token, token, func(uint32, []byte) ([]byte, error) { return nil, ErrCrossed })
	if !errors.Is(derr, ErrCrossed) || !errors.Is(aerr, ErrCrossed) {
		t.Errorf("crossed: %v, %v", derr, aerr)
	}
	_, derr, aerr = meet(t, self(0), self(1), token, token, func(uint32, []byte) ([]byte, error) { return make([]byte, MaxPayload+1), nil })
	if derr == nil || aerr == nil || !strings.Contains(aerr.Error(), "the most is 4096") {
		t.Errorf("an answer that is too long: %v, %v", derr, aerr)
	}
}

// Any bytes may come from a stranger, and any behind a proof from a peer.
func FuzzAnswer(f *testing.F) {
	s := self(1)
	f.Add(self(0).opening(1, NewToken()))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(b), io.Discard}
		if err := s.Answer(in, NewToken(), func(uint32, []byte) ([]byte, error) { return nil, nil }); err == nil {
			t.Error("a stranger is welcome")
		}
		// One that says again what a rank has said, and goes on with b.
		token := NewToken()
		in.Reader = io.MultiReader(bytes.NewReader(self(0).opening(1, token)), bytes.NewReader(b))
		if err := s.Answer(in, token, func(uint32, []byte) ([]byte, error) { return nil, nil }); err == nil {
			t.Error("a stranger is welcome that has overheard a rank")
		}
		in.Reader = bytes.NewReader(b)
		if _, err := self(0).Dial(in, 1, token, func() ([]byte, error) { return nil, nil }); err == nil {
			t.Error("a stranger is taken for a rank")
		}
		readVerdict(bytes.NewReader(b))
	})
}

// serve runs a server on a socket of this machine until the test ends.
func serve(t *testing.T, s *Server) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	s.Listener, s.Name, s.Log = l, "test", slog.New(slog.NewTextHandler(t.Output(), nil))
	go func() {
		s.Serve(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		l.Close()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("Serve does not end")
		}
	})
	return l.Addr().String()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c
}

// Who says nothing is hung up, and counts until then; who has greeted counts no
// more.
func TestStrangersAreFewAndShort(t *testing.T) {
	greeted := make(chan struct{})
	address := serve(t, &Server{Limit: patience, Most: 2, Greet: func(c net.Conn) (func(), error) {
		_, err := readN(c, 1)
		return func() { greeted <- struct{}{}; readN(c, 1) }, err
	}})
	first, second := dial(t, address), dial(t, address)
	first.Write([]byte("x"))
	<-greeted
	third := dial(t, address)
	second.Write([]byte("x"))
	third.Write([]byte("x"))
	<-greeted
	<-greeted
}

func TestTooManyStrangersAreHungUp(t *testing.T) {
	inside, many := make(chan struct{}), atomic.Int32{}
	address := serve(t, &Server{Limit: patience, Most: 1, Greet: func(c net.Conn) (func(), error) {
		if many.Add(1) > 1 {
			c.Write([]byte("welcome"))
			return nil, nil
		}
		inside <- struct{}{}
		_, err := readN(c, 1)
		return nil, err
	}})
	dial(t, address)
	<-inside
	if _, err := readN(dial(t, address), 1); err == nil {
		t.Error("one too many is listened to")
	}
}

func TestAGreetingHasALimit(t *testing.T) {
	address := serve(t, &Server{Limit: time.Millisecond, Most: 1, Greet: func(c net.Conn) (func(), error) {
		_, err := readN(c, 1)
		return nil, err
	}})
	if _, err := readN(dial(t, address), 1); err == nil {
		t.Error("it is not hung up")
	}
}

// oneCaller is a listener that somebody calls once.
type oneCaller struct {
	calls chan net.Conn
	net.Listener
}

func (l *oneCaller) Accept() (net.Conn, error) {
	if c, ok := <-l.calls; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

// limited is a connection that knows its limit.
type limited struct {
	net.Conn
	until time.Time
}

func (l *limited) SetDeadline(t time.Time) error { l.until = t; return nil }
func (l *limited) RemoteAddr() net.Addr          { return &net.UnixAddr{} }

func TestAGreetingHasItsLimitFromTheBeginning(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	l, greeted := &oneCaller{calls: make(chan net.Conn, 1)}, false
	l.calls <- &limited{Conn: b}
	close(l.calls)
	before := time.Now()
	s := &Server{Listener: l, Limit: patience, Most: 1, Log: slog.New(slog.DiscardHandler), Greet: func(c net.Conn) (func(), error) {
		greeted = true
		if until := c.(*limited).until; until.Before(before.Add(patience)) || until.After(time.Now().Add(patience)) {
			t.Errorf("begun at %v the greeting may last until %v", before, until)
		}
		return nil, nil
	}}
	s.Serve(context.Background())
	if !greeted {
		t.Error("nobody was greeted: nothing is proved")
	}
}

// What has greeted is without limit until the server's context is done.
func TestTheEndOfTheServerEndsConnections(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a, b := net.Pipe()
	defer a.Close()
	defer Bound(ctx, b, time.Nanosecond)()
	Unbound(ctx, b)
	go a.Write([]byte("x"))
	if _, err := readN(b, 1); err != nil {
		t.Errorf("unbound: %v", err)
	}
	cancel()
	if _, err := readN(b, 1); err == nil {
		t.Error("it reads on")
	}
	Unbound(ctx, b)
	if _, err := readN(b, 1); err == nil {
		t.Error("it reads on where the end came before")
	}
}
