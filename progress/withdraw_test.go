package progress

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
)

// A wait may have more contexts than a select has cases, and looks at each of
// them once.
func TestAWaitTakesAnyNumberOfContexts(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	const n = 70_000
	hs := make([]Handle, n)
	cancels := make([]context.CancelFunc, n)
	for i := range hs {
		var ctx context.Context
		ctx, cancels[i] = context.WithCancel(context.Background())
		r := s.shared(forever, 0, uint64(i), ctx)
		hs[i] = r.Handle()
		s.l.Submit(s, r)
	}
	go func() {
		for _, cancel := range cancels {
			cancel()
		}
	}()
	out := make([]Status, n)
	if err := WaitAll(hs, out); err != nil {
		t.Fatal(err)
	}
	for i := range out {
		if !errors.Is(out[i].Err, context.Canceled) {
			t.Fatalf("request %d ended with %v", i, out[i].Err)
		}
	}
	s.checkFree(t)
}

// uncomparable is a context of a type that can't be compared.
type uncomparable struct {
	context.Context
	_ []int
}

func TestContextsOfAnyTypeEndAWait(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	ctx, cancel := context.WithCancel(context.Background())
	var hs []Handle
	for i := range 3 {
		r := s.shared(forever, 0, uint64(i), uncomparable{Context: ctx})
		hs = append(hs, r.Handle())
		s.l.Submit(s, r)
	}
	go cancel()
	out := make([]Status, len(hs))
	if err := WaitAll(hs, out); err != nil || !errors.Is(out[2].Err, context.Canceled) {
		t.Errorf("WaitAll = %v, %v", err, out)
	}
	s.checkFree(t)
}

// hostile is a context all of whose methods but Done panic, and that one too
// once it is told to.
type hostile struct {
	done chan struct{}
	all  atomic.Bool
}

func (h *hostile) Done() <-chan struct{} {
	if h.all.Load() {
		panic("a user's Done")
	}
	return h.done
}
func (*hostile) Deadline() (time.Time, bool) { panic("a user's Deadline") }
func (*hostile) Err() error                  { panic("a user's Err") }
func (*hostile) Value(any) any               { panic("a user's Value") }

// No method of a user's context runs under ownership, so that a panic in one
// leaves the loop free for others.
func TestAContextThatPanicsLeavesTheLoopFree(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	ctx := &hostile{done: make(chan struct{})}
	r := s.shared(forever, 0, 1, ctx)
	h := r.Handle()
	s.l.Submit(s, r)
	time.AfterFunc(time.Millisecond, func() { ctx.all.Store(true); close(ctx.done) })
	_, err := Wait(&h)
	if err == nil {
		t.Error("the request ended well")
	}
	panics := func(what string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s has not asked the context", what)
			}
		}()
		f()
	}
	panics("the error's text", func() { _ = err.Error() })
	panics("a call with it", func() { expiry.Of(ctx) })
	r = s.shared(atOnce, 0, 2, nil)
	if _, err := s.l.Do(s, r); err != nil {
		t.Error(err)
	}
	s.checkFree(t)
}

// The same where a wait has several contexts, and where nobody waits.
func TestContextsThatPanicEndWaitsAndCallbacks(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	begin := func(token uint64) (Handle, *hostile) {
		ctx := &hostile{done: make(chan struct{})}
		r := s.shared(forever, 0, token, ctx)
		h := r.Handle()
		s.l.Submit(s, r)
		ctx.all.Store(true)
		return h, ctx
	}
	first, a := begin(1)
	second, b := begin(2)
	go func() { close(a.done); close(b.done) }()
	hs, out := []Handle{first, second}, make([]Status, 2)
	if err := WaitAll(hs, out); err != nil || out[0].Err == nil || out[1].Err == nil {
		t.Errorf("WaitAll = %v, and the requests ended with %v, %v", err, out[0].Err == nil, out[1].Err == nil)
	}
	third, c := begin(3)
	ended := make(chan bool)
	if err := OnEnd(&third, func(_ Status, err error) { ended <- err != nil }); err != nil {
		t.Fatal(err)
	}
	close(c.done)
	if !<-ended {
		t.Error("the callback was told of no error")
	}
	fourth, d := begin(4)
	if _, err := Release(&fourth); err != nil {
		t.Fatal(err)
	}
	close(d.done)
	s.own(func() {})
	for waiting := 1; waiting > 0; {
		s.own(func() { waiting = len(s.waiting) })
	}
	s.checkFree(t)
}

// busyDomain has always something to do.
type busyDomain struct{ fabric.Domain }

func (d busyDomain) Poll(h fabric.Handler, max int) int { return 1 + d.Domain.Poll(h, max) }

// A deadline ends a wait also where the poller is never in vain.
func TestADeadlineEndsAWaitUnderTraffic(t *testing.T) {
	var s *toy
	l := lone(t, func(d fabric.Domain, of *toy) fabric.Domain {
		s = of
		return busyDomain{d}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if _, err := l.Do(s, s.shared(forever, 0, 1, ctx)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}

// eventful is a domain whose n-th Poll does something, and that has always something
// to do.
type eventful struct {
	fabric.Domain
	polls int
	at    map[int]func()
}

func (d *eventful) Poll(fabric.Handler, int) int {
	d.polls++
	if f := d.at[d.polls]; f != nil {
		f()
	}
	return 1
}

// A context also ends the wait of a poller that is never in vain.
func TestAPollerUnderTrafficSeesItsContextEnd(t *testing.T) {
	var s *toy
	z := &eventful{}
	l := lone(t, func(d fabric.Domain, of *toy) fabric.Domain {
		s, z.Domain = of, d
		return z
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	z.at = map[int]func(){1000: cancel, 1 << 27: s.tell}
	if _, err := l.Do(s, s.shared(forever, 0, 1, ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// A context that ends as the wait does leaves what uses the slot and the Waiter next,
// and a request that nobody waits for any more.
func TestAContextThatEndsLateEndsNothingElse(t *testing.T) {
	s := loops(t, 1, Config{NoThread: true})[0]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.own(func() {
		w := newWaiter()
		r := s.beginForever()
		r.Until, r.waiter, w.need = expiry.Of(ctx), w, 1
		w.guard(r)
		g := w.guards[0]
		r.waiter = nil
		if g.expire(); !s.waiting[r] {
			t.Error("a request was withdrawn for which nobody waits")
		}
		s.tell()
		s.l.Free(r)
		if next := s.beginForever(); next != r {
			t.Fatal("the slot is not used again")
		}
		r.waiter = w
		if g.expire(); !s.waiting[r] {
			t.Error("the slot's next request was withdrawn")
		}
		r.waiter = nil
		s.tell()
		s.l.Free(r)
	})
}

// closingDomain tells when it is closed.
type closingDomain struct {
	fabric.Domain
	closed *atomic.Bool
}

func (d closingDomain) Close() error {
	d.closed.Store(true)
	return d.Domain.Close()
}

// A request ends because its loop closes once the domain has let go of its
// buffer, and not before; so does its callback.
func TestRequestsEndBehindTheirDomain(t *testing.T) {
	var closed atomic.Bool
	var s *toy
	l := lone(t, func(d fabric.Domain, of *toy) fabric.Domain {
		s = of
		return closingDomain{d, &closed}
	})
	ended := make(chan bool, 3)
	for i := range 2 {
		r := s.shared(forever, 0, uint64(i), nil)
		h := r.Handle()
		l.Submit(s, r)
		if i == 0 {
			OnEnd(&h, func(Status, error) { ended <- closed.Load() })
			continue
		}
		go func() {
			Wait(&h)
			ended <- closed.Load()
		}()
	}
	l.Exclusive(func() {
		l.Orphan(s, func() *Request { r := l.New(); r.Kind = forever; return r }(), func(*Request, error) { ended <- closed.Load() })
	})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	for range 3 {
		if !<-ended {
			t.Error("a request ended before its domain was closed")
		}
	}
}
