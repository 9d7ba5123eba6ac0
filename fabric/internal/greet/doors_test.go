package greet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// opening returns one as a listener reads it.
func opening(t *testing.T, s *Self, to uint32, token Token) *Opening {
	t.Helper()
	o := new(Opening)
	if err := o.Read(strings.NewReader(string(s.opening(to, token)))); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAGateTakesTheOpeningsOfItsJob(t *testing.T) {
	token := NewToken()
	g := self(1).NewGate(token)
	for name, c := range map[string]struct {
		change func(*Self)
		known  Token
		spoil  int // the byte of the opening that is changed, -1: none
		want   error
	}{
		"nothing is changed": {func(*Self) {}, token, -1, nil},
		"another token":      {func(*Self) {}, NewToken(), -1, errNoCookie},
		"another key":        {func(s *Self) { s.Key[0]++ }, token, -1, errOtherJob},
		"another job":        {func(s *Self) { s.Job = "other" }, token, -1, errOtherJob},
		"another version":    {func(s *Self) { s.Version++ }, token, -1, errOtherVersion},
		"another transport":  {func(s *Self) { s.Magic[0]++ }, token, -1, errNoOpening},
		"another rank":       {func(*Self) {}, token, 12, errNoCookie},
		"another listener":   {func(*Self) {}, token, 20, errNoCookie},
		"another nonce":      {func(*Self) {}, token, 40, errNoCookie},
		"another cookie":     {func(*Self) {}, token, openingSize - 1, errNoCookie},
	} {
		s := self(0)
		c.change(s)
		o := opening(t, s, 1, c.known)
		if c.spoil >= 0 {
			o.b[c.spoil]++
		}
		if err := g.Check(o); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if c.want != nil && !errors.Is(c.want, ErrStranger) {
			t.Errorf("%v is no ErrStranger", c.want)
		}
	}
}

func TestAGateAllocatesNothing(t *testing.T) {
	token := NewToken()
	g := self(1).NewGate(token)
	good, bad := opening(t, self(0), 1, token), opening(t, self(0), 1, NewToken())
	if n := testing.AllocsPerRun(100, func() { g.Check(good); g.Check(bad) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

// With a key the token counts for nothing, on either side.
func TestTheKeyIsTheSecret(t *testing.T) {
	with := func(rank uint32, k byte) *Self { s := self(rank); s.Key[31] = k; return s }
	welcome := func(uint32, []byte) ([]byte, error) { return nil, nil }
	if _, derr, aerr := meet(t, with(0, 1), with(1, 1), NewToken(), NewToken(), welcome); derr != nil || aerr != nil {
		t.Errorf("of one key: %v, %v", derr, aerr)
	}
	token := NewToken()
	if _, derr, aerr := meet(t, with(0, 1), with(1, 2), token, token, welcome); derr == nil || !errors.Is(aerr, ErrStranger) {
		t.Errorf("of two keys: %v, %v", derr, aerr)
	}
}

func TestAnOpeningNamesWhomItCalls(t *testing.T) {
	s := self(0)
	s.Size = 3
	token := NewToken()
	if job, to := opening(t, s, 2, token).To(); job != s.Tag() || to != 2 {
		t.Errorf("it calls rank %d of %x", to, job)
	}
	answers := self(1)
	answers.Size = 3
	err := answers.AnswerTo(opening(t, s, 2, token), struct {
		io.Reader
		io.Writer
	}{strings.NewReader(""), io.Discard}, token, nil)
	if !errors.Is(err, ErrStranger) {
		t.Errorf("rank 1 answers what calls rank 2: %v", err)
	}
}

// The dialer tells what there is instead of its peer.
func TestTheDialerToldOfNobody(t *testing.T) {
	token := NewToken()
	prove := func(rank, later uint32) func(io.Writer, *Opening) { // what a rank of the job can
		return func(w io.Writer, o *Opening) {
			s := self(rank)
			s.Version += later
			me := s.greeting()
			w.Write(append(me, s.proof(token, listener, o.b[:], me)...))
		}
	}
	for name, c := range map[string]struct {
		reply func(io.Writer, *Opening)
		want  error
	}{
		"absent":          {func(w io.Writer, _ *Opening) { self(2).Absent(w) }, ErrAbsent},
		"another version": {prove(1, 1), ErrStranger},
		"another rank":    {prove(2, 0), ErrStranger},
		"something else":  {func(w io.Writer, _ *Opening) { w.Write(make([]byte, greetingSize+proofSize)) }, ErrStranger},
		"the end":         {func(io.Writer, *Opening) {}, io.EOF},
	} {
		a, b := net.Pipe()
		go func() {
			var o Opening
			o.Read(b)
			c.reply(b, &o)
			b.Close()
		}()
		if _, err := self(0).Dial(a, 1, token, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		a.Close()
	}
}

// crowd is a listener of connections inside the process.
type crowd struct {
	calls chan net.Conn
	once  sync.Once
	end   chan struct{}
}

func newCrowd() *crowd { return &crowd{calls: make(chan net.Conn), end: make(chan struct{})} }

func (c *crowd) Accept() (net.Conn, error) {
	select {
	case conn := <-c.calls:
		return conn, nil
	case <-c.end:
		return nil, net.ErrClosed
	}
}
func (c *crowd) Close() error   { c.once.Do(func() { close(c.end) }); return nil }
func (c *crowd) Addr() net.Addr { return &net.UnixAddr{} }

// call returns the caller's end of a new connection.
func (c *crowd) call() net.Conn {
	a, b := net.Pipe()
	c.calls <- b
	return a
}

// hungUp reports whether the other end has closed the connection; in a bubble, whose
// other goroutines all wait.
func hungUp(c net.Conn) bool {
	synctest.Wait()
	c.SetReadDeadline(time.Now())
	_, err := c.Read(make([]byte, 1))
	return err == io.EOF
}

// open serves Doors in a bubble until the test ends.
func open(t *testing.T, vet func(*Guest) (func() error, error)) (*Doors, *crowd) {
	c := newCrowd()
	d := NewDoors("test", slog.New(slog.DiscardHandler), vet)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { d.Serve(ctx, c) })
	t.Cleanup(func() { cancel(); c.Close(); wg.Wait() })
	return d, c
}

// readByte is what a stranger has to show in these tests.
func readByte(g *Guest) (func() error, error) {
	b, err := readN(g, 1)
	if err == nil && b[0] != 'w' {
		err = ErrStranger
	}
	return func() error { _, err := readN(g, 1); return err }, err
}

func TestTheOldestStrangerMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := open(t, readByte)
		var in []net.Conn
		for range d.strangers.most + 3 {
			in = append(in, c.call())
			synctest.Wait()
		}
		for i, conn := range in {
			if got := hungUp(conn); got != (i < 3) {
				t.Errorf("stranger %d of %d: hung up: %t", i, len(in), got)
			}
		}
		in[len(in)-1].Write([]byte("w"))
		in[len(in)-2].Write([]byte("x"))
		synctest.Wait()
		for range 2 * d.strangers.most {
			c.call()
			synctest.Wait()
		}
		if hungUp(in[len(in)-1]) {
			t.Error("who has shown an opening is hung up for strangers")
		}
		if n := d.Refused(); n != uint64(3+1+2*d.strangers.most-2) {
			t.Errorf("%d are counted as refused", n)
		}
	})
}

// A stranger that sends a byte now and then has no more time for it.
func TestASlowStrangerIsHungUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := open(t, func(g *Guest) (func() error, error) {
			_, err := readN(g, openingSize)
			return func() error { return nil }, err
		})
		drip, begin := c.call(), time.Now()
		for {
			if _, err := drip.Write([]byte{0}); err != nil {
				break
			}
			time.Sleep(StrangeLimit / 10)
		}
		if d := time.Since(begin); d > 2*StrangeLimit {
			t.Errorf("it may drip for %v", d)
		}
	})
}

func TestWhatStaysIsNotHungUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, evicted := atomic.Int32{}, atomic.Int32{}
		d, c := open(t, func(g *Guest) (func() error, error) {
			b, err := readN(g, 1)
			return func() error {
				if b[0] == 'k' && !g.Keep(context.Background()) {
					t.Error("it can't be kept")
				}
				kept.Add(1)
				_, err := readN(g, 1)
				if b[0] != 'k' && !g.Keep(context.Background()) {
					evicted.Add(1)
				}
				return err
			}, err
		})
		keep, first := c.call(), c.call()
		keep.Write([]byte("k"))
		first.Write([]byte("1"))
		synctest.Wait()
		for range d.known.most {
			c.call().Write([]byte("x"))
			synctest.Wait()
		}
		if !hungUp(first) || evicted.Load() != 1 {
			t.Errorf("one too many that has an opening: %d evicted", evicted.Load())
		}
		time.Sleep(2 * Limit)
		if hungUp(keep) || int(kept.Load()) != d.known.most+2 {
			t.Errorf("what stays is hung up, or %d were not greeted", d.known.most+2-int(kept.Load()))
		}
		keep.Close()
	})
}

// full is a listener of a process that has no descriptor left for a while.
type full struct {
	*crowd
	until time.Time
	tries int
}

func (f *full) Accept() (net.Conn, error) {
	if f.tries++; time.Now().Before(f.until) {
		return nil, fmt.Errorf("accept: %w", syscall.EMFILE)
	}
	return f.crowd.Accept()
}

func TestAListenerWithoutDescriptorsRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		d := NewDoors("test", slog.New(slog.NewTextHandler(&log, nil)), readByte)
		f := &full{crowd: newCrowd(), until: time.Now().Add(time.Second)}
		var wg sync.WaitGroup
		wg.Go(func() { d.Serve(context.Background(), f) })
		conn := f.call()
		conn.Write([]byte("w"))
		conn.Close()
		f.Close()
		wg.Wait()
		if most := int(time.Second/acceptPause) + 3; f.tries > most || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%d tries, %d at most; the log: %s", f.tries, most, log.String())
		}
	})
}

// flaky is a listener that fails every other time.
type flaky struct{ full }

func (f *flaky) Accept() (net.Conn, error) {
	if f.tries++; f.tries%2 == 1 {
		return nil, fmt.Errorf("accept: %w", syscall.EMFILE)
	}
	return f.crowd.Accept()
}

// A process that takes the descriptors and gives them back does not fill the log.
func TestFailuresToAcceptAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		d := NewDoors("test", slog.New(slog.NewTextHandler(&log, nil)), readByte)
		f := &flaky{full{crowd: newCrowd()}}
		var wg sync.WaitGroup
		wg.Go(func() { d.Serve(context.Background(), f) })
		for range 20 {
			f.call().Close()
		}
		f.Close()
		wg.Wait()
		if f.tries < 40 || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%d tries; the log: %s", f.tries, log.String())
		}
	})
}

func TestPlacesAreAPartOfTheDescriptors(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 256, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	if d := NewDoors("test", slog.New(slog.DiscardHandler), readByte); d.known.most != 64 || d.strangers.most != 16 {
		t.Errorf("of 256 descriptors %d are for greetings, %d for strangers", d.known.most, d.strangers.most)
	}
}
