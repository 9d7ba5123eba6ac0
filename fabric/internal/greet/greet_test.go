package greet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
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
		"another token":      {func(*Self) {}, NewToken(), "not of this job"},
		"another job":        {func(s *Self) { s.Job = "other" }, token, "not of this job"},
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
		"another rank": func(s *Self) { s.Rank = 0 }, "another job": func(s *Self) { s.Job = "x" }, "another version": func(s *Self) { s.Version++ },
	} {
		answers := self(1)
		change(answers)
		if _, derr, aerr := meet(t, self(0), answers, token, token, nil); derr == nil || aerr == nil {
			t.Errorf("%s: %v, %v", name, derr, aerr)
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
	f.Add(self(0).greeting())
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(b), io.Discard}
		if err := s.Answer(in, NewToken(), func(uint32, []byte) ([]byte, error) { return nil, nil }); err == nil {
			t.Error("a stranger is welcome")
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
	inside := make(chan struct{})
	address := serve(t, &Server{Limit: patience, Most: 1, Greet: func(c net.Conn) (func(), error) {
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
