package progress

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// reducer is a protocol whose requests end when a function of the program's has
// been run for them, unless a peer dies meanwhile.
type reducer struct {
	*toy
	fn   func(r *Request)
	dead error
}

func (s *reducer) Start(r *Request) {
	r.Result = nothing
	token := r.Imm
	s.l.Aside(r, func() { s.fn(r) }, func(err error) {
		if r.Result.Bytes = token; err == nil {
			err = s.dead
		}
		s.l.Finish(r, err)
	})
}

func (s *reducer) Cancel(*Request, error) bool { return false }

func (s *reducer) PeerDown(_ fabric.Peer, err error) {
	s.dead = err
	s.l.Each(s, func(r *Request) {
		if !s.l.Apart(r) {
			s.l.Finish(r, err)
		}
	})
}

// reducers makes a loop with a reducer, which runs fn for each request.
func reducers(t *testing.T, fn func(r *Request)) *reducer {
	s := &reducer{toy: loops(t, 1, Config{})[0], fn: fn}
	s.l.Exclusive(func() { s.l.all = append(s.l.all, s) })
	return s
}

func (s *reducer) request(token uint64) *Request { return s.shared(0, 0, token, nil) }

func (s *reducer) start(token uint64) Handle {
	r := s.request(token)
	h := r.Handle()
	s.l.Submit(s, r)
	return h
}

// parkedOne waits until a goroutine is parked.
func (s *reducer) parkedOne(t *testing.T) {
	waitUntil(t, func() (yes bool) {
		s.own(func() { yes = s.l.parked.first() != nil })
		return yes
	})
}

// A function runs on a goroutine of its own, and its operation ends, whatever waits.
func TestAFunctionRunsWhateverWaits(t *testing.T) {
	s := reducers(t, nil)
	for _, c := range []struct {
		name   string
		budget time.Duration
		wait   func(h Handle, ended chan error)
	}{
		{"parked", 0, func(h Handle, ended chan error) {
			go func() { _, err := Wait(&h); ended <- err }()
			s.parkedOne(t)
		}},
		{"parked for others too", 0, func(h Handle, ended chan error) {
			other := s.begin(forever, 0, 2)
			go func() { _, _, err := WaitAny([]Handle{other, h}); s.own(s.tell); Wait(&other); ended <- err }()
			s.parkedOne(t)
		}},
		{"polling", time.Hour, func(h Handle, ended chan error) {
			go func() { _, err := Wait(&h); ended <- err }()
			waitUntil(t, func() (yes bool) {
				s.own(func() { yes = s.l.poller != nil })
				return yes
			})
		}},
		{"absent", 0, func(h Handle, ended chan error) {
			go func() {
				waitUntil(t, func() bool { done, _, _ := Peek(h); return done })
				_, err := Wait(&h)
				ended <- err
			}()
		}},
		{"detached", 0, func(h Handle, ended chan error) {
			if err := OnEnd(&h, func(_ Status, err error) { ended <- err }); err != nil {
				t.Error(err)
			}
		}},
	} {
		s.own(func() { s.l.budget.whole = c.budget })
		h := s.begin(forever, 0, 1)
		ended := make(chan error, 1)
		c.wait(h, ended)
		var stack []byte
		s.own(func() {
			delete(s.waiting, h.r)
			s.l.Aside(h.r, func() { stack = debug.Stack() }, func(err error) { s.finish(h.r) })
		})
		if err := <-ended; err != nil {
			t.Errorf("%s: it ended with %v", c.name, err)
		}
		if !strings.Contains(string(stack), "created by github.com/weft-mpi/weft/progress.(*Loop).Aside") {
			t.Errorf("%s: it was run by\n%s", c.name, stack)
		}
		s.checkFree(t)
	}
}

// A function that panics, or ends its goroutine, ends its operation and nothing
// else.
func TestAFunctionThatPanicsEndsItsOperation(t *testing.T) {
	broken := errors.New("the operator's")
	for _, c := range []struct {
		name string
		fn   func(r *Request)
		want error
	}{
		{"panic", func(*Request) { panic(broken) }, broken},
		{"Goexit", func(*Request) { runtime.Goexit() }, ErrExit},
	} {
		s := reducers(t, c.fn)
		ended := s.start(1)
		waitUntil(t, func() bool { ended, _, err := Peek(ended); return ended || err != nil })
		for _, h := range []Handle{ended, s.start(2)} {
			_, err := Wait(&h)
			if p := (*Panic)(nil); !errors.As(err, &p) || !errors.Is(err, c.want) {
				t.Errorf("%s: it ended with %v", c.name, err)
			}
		}
		s.checkFree(t)
	}
}

// A function that blocks for the operation it belongs to is refused where another
// goroutine waits for that.
func TestAFunctionDoesNotWaitForItsOwnOperation(t *testing.T) {
	s := reducers(t, nil)
	s.own(func() { s.l.budget.whole = 0 })
	s.fn = func(r *Request) {
		s.parkedOne(t)
		other := s.begin(forever, 0, 9)
		for name, wait := range map[string]func(hs []Handle) error{
			"Wait":     func(hs []Handle) error { _, err := Wait(&hs[0]); return err },
			"WaitAll":  func(hs []Handle) error { return WaitAll(hs, nil) },
			"WaitAny":  func(hs []Handle) error { _, _, err := WaitAny(hs); return err },
			"WaitSome": func(hs []Handle) error { _, err := WaitSome(hs, make([]int, 2), make([]Status, 2)); return err },
		} {
			if err := wait([]Handle{r.Handle(), other}); !errors.Is(err, ErrStale) {
				t.Errorf("%s: %v, want %v", name, err, ErrStale)
			}
		}
		if ended, _, err := Peek(r.Handle()); ended || err != nil && !errors.Is(err, ErrStale) {
			t.Errorf("it has ended before its function: %t, %v", ended, err)
		}
		s.own(s.tell)
		if _, err := Wait(&other); err != nil {
			t.Errorf("a wait for another operation: %v", err)
		}
	}
	h := s.start(1)
	if _, err := Wait(&h); err != nil {
		t.Error(err)
	}
	if _, err := s.l.Do(s, s.request(2)); err != nil {
		t.Error(err)
	}
	s.checkFree(t)
}

// Closing the loop does not wait for a function, and the request ends behind it.
func TestACloseLeavesAFunctionItsBuffer(t *testing.T) {
	running, goOn := make(chan bool), make(chan bool)
	var returned atomic.Bool
	s := reducers(t, func(*Request) {
		running <- true
		<-goOn
		returned.Store(true)
	})
	ended := make(chan bool, 1)
	h := s.start(1)
	<-running
	keep := h
	go func() {
		_, err := Wait(&h)
		if !errors.Is(err, fabric.ErrClosed) { // nothing goes on in a closed loop
			t.Errorf("it ended with %v", err)
		}
		ended <- returned.Load()
	}()
	queuedToo := s.l.NewShared()
	queuedToo.Imm = 2
	if err := s.l.Close(); err != nil {
		t.Error(err)
	}
	if done, _, _ := Peek(keep); done {
		t.Error("it has ended while its function runs")
	}
	s.l.Submit(s, queuedToo)
	other := queuedToo.Handle()
	if _, err := Wait(&other); !errors.Is(err, fabric.ErrClosed) {
		t.Errorf("an operation after Close: %v", err)
	}
	goOn <- true
	if !<-ended {
		t.Error("it ended before its function had returned")
	}
	s.checkFree(t)
}

// A death ends an operation behind its function.
func TestADeathLeavesAFunctionItsBuffer(t *testing.T) {
	running, goOn := make(chan bool), make(chan bool)
	var returned atomic.Bool
	s := reducers(t, func(*Request) {
		running <- true
		<-goOn
		returned.Store(true)
	})
	h := s.start(1)
	<-running
	dead := errors.New("dead")
	s.own(func() { s.l.EndPeer(0, dead) })
	if ended, _, err := Peek(h); ended || err != nil {
		t.Errorf("it has ended while its function runs: %v", err)
	}
	goOn <- true
	if _, err := Wait(&h); !errors.Is(err, dead) || !returned.Load() {
		t.Errorf("it ended with %v; the function has returned: %t", err, returned.Load())
	}
	s.checkFree(t)
}

// Goroutines start operations with functions, which communicate in turn, and
// wait for them in every way.
func TestFunctionsOfManyOperationsRun(t *testing.T) {
	toys := loops(t, 2, Config{})
	rounds := 200
	if testing.Short() {
		rounds = 30
	}
	var run, want atomic.Int64
	sinks := make([]*reducer, 2)
	for i, s := range toys {
		sinks[i] = &reducer{toy: s}
		sinks[i].fn = func(r *Request) {
			run.Add(1)
			if st, err := s.l.Do(s, s.shared(letter, 1-i, 7, nil)); err != nil || st.Bytes != 7 {
				t.Errorf("a function's operation: %d, %v", st.Bytes, err)
			}
			if ended, _, _ := Peek(r.Handle()); ended {
				t.Error("it has ended before its function")
			}
		}
		if i == 0 {
			s.own(func() { s.l.budget.whole = 0 })
		}
	}
	together(t, 6, func(g int) {
		s := sinks[g%2]
		rnd := rand.New(rand.NewPCG(uint64(g), 5))
		for i := range uint64(rounds) {
			token := uint64(g)<<32 | i
			want.Add(1)
			check := func(st Status, err error) {
				if err != nil || st.Bytes != token {
					t.Errorf("operation %d ended with %d, %v", token, st.Bytes, err)
				}
			}
			switch rnd.IntN(4) {
			case 0:
				res, err := s.l.Do(s, s.request(token))
				check(res.Status(), err)
			case 1:
				h := s.start(token)
				check(Wait(&h))
			case 2:
				hs := []Handle{s.start(token), s.submit(letter, 0, 1)}
				out := make([]Status, 2)
				if err := WaitAll(hs, out); err != nil {
					t.Error(err)
				}
				check(out[0], out[0].Err)
			case 3:
				hs := []Handle{s.start(token), s.submit(letter, 1, 1)}
				for range hs {
					i, st, err := WaitAny(hs)
					if i == 0 {
						check(st, err)
					}
				}
			}
		}
	})
	if run.Load() != want.Load() {
		t.Errorf("%d functions were run, want %d", run.Load(), want.Load())
	}
	for _, s := range toys {
		s.checkFree(t)
	}
}
