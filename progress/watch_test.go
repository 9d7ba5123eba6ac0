package progress

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
)

// atLeast is the condition that a word has reached a number.
type atLeast struct {
	Passive
	word *atomic.Int64
	want int64
	err  error // once it has
}

func (c atLeast) Ready() (bool, error) {
	ok := c.word.Load() >= c.want
	if ok {
		return true, c.err
	}
	return false, nil
}

// No wake-up is lost where a wait begins to sleep as the word is stored to.
func TestAWaitForAWordMissesNoStore(t *testing.T) {
	for _, alone := range []bool{false, true} {
		s := loops(t, 1, Config{NoThread: alone})[0]
		s.l.budget.whole = 1 // sleep at once
		const rounds = 5000
		var there, back atomic.Int64
		together(t, 3, func(i int) {
			for n := int64(1); n <= rounds; n++ {
				if i == 2 {
					for back.Load() < 2*(n-1) { // spins: it has no loop
						s.l.dom.Wake()
						runtime.Gosched() // for those that wait, with one processor
					}
					there.Store(n)
					s.l.dom.Wake()
					continue
				}
				if err := s.l.WaitFor(expiry.Expiry{}, atLeast{word: &there, want: n}); err != nil {
					t.Error(err)
					return
				}
				back.Add(1)
			}
		})
	}
}

// A condition ends as its Ready says, at once where it holds already, and can be
// taken back; what is left ends with the loop.
func TestAWaitForAConditionEnds(t *testing.T) {
	s := loops(t, 1, Config{NoThread: true})[0]
	var word atomic.Int64
	never := errors.New("it never will")
	if err := s.l.WaitFor(expiry.Expiry{}, atLeast{word: &word}); err != nil {
		t.Error(err)
	}
	if err := s.l.WaitFor(expiry.Expiry{}, atLeast{word: &word, err: never}); !errors.Is(err, never) {
		t.Errorf("%v, want %v", err, never)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.l.WaitFor(expiry.Of(ctx), atLeast{word: &word, want: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context has ended", err)
	}
	var hs []Handle
	for i := range 5 {
		hs = append(hs, s.l.Watch(expiry.Expiry{}, atLeast{word: &word, want: int64(1 + i%2)}))
	}
	for _, i := range []int{2, 0, 4} { // in the middle, the first, the last
		if _, _, err := Cancel(hs[i]); err != nil {
			t.Error(err)
		}
		if _, err := Wait(&hs[i]); !errors.Is(err, ErrCancelled) {
			t.Errorf("%v, want %v", err, ErrCancelled)
		}
	}
	word.Store(1)
	if done, _, _ := Test(&hs[1]); done {
		t.Error("a condition that does not hold has ended a request")
	}
	word.Store(2)
	for _, i := range []int{1, 3} {
		if done, _, err := Test(&hs[i]); !done || err != nil {
			t.Errorf("%t, %v for a condition that holds", done, err)
		}
	}
	left := s.l.Watch(expiry.Expiry{}, atLeast{word: &word, want: 3})
	s.l.Close()
	if _, err := Wait(&left); !errors.Is(err, fabric.ErrClosed) {
		t.Errorf("%v, want %v", err, fabric.ErrClosed)
	}
}

// watchless fails the test if it is looked at.
type watchless struct {
	Passive
	t *testing.T
}

func (w watchless) Ready() (bool, error) {
	w.t.Error("a condition was looked at, whose memory may be gone")
	return true, nil
}

// Waits for what holds soon take no requests, but now and then they poll.
func TestWaitsThatEndWithoutARequestPoll(t *testing.T) {
	l := lone(t, func(d fabric.Domain, _ *toy) fabric.Domain { return d })
	l.crowded = false
	var word atomic.Int64
	before := l.passes
	for range 10 * pollEvery {
		if err := l.WaitFor(expiry.Expiry{}, atLeast{word: &word}); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.passes - before; n != 10 {
		t.Errorf("%d passes, want 10", n)
	}
	l.Close()
	if err := l.WaitFor(expiry.Expiry{}, watchless{t: t}); !errors.Is(err, fabric.ErrClosed) {
		t.Errorf("%v, want %v", err, fabric.ErrClosed)
	}
}

// A thread that sleeps for the urgent only is armed for any ring as soon as
// something waits for a word.
func TestAConditionArmsForAnyRing(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	var word atomic.Int64
	h := s.l.Watch(expiry.Expiry{}, atLeast{word: &word, want: 1})
	armed := func() (w fabric.Wake) {
		s.l.Exclusive(func() {
			if s.l.timeout == untilBell {
				w = s.l.bell
			}
		})
		return w
	}
	waitUntil(t, func() bool { return armed() != 0 })
	if w := armed(); w != fabric.WakeAll {
		t.Errorf("the doorbell is armed for %v", w)
	}
	word.Store(1)
	s.l.dom.Wake()
	waitUntil(t, func() bool {
		done, _, _ := Peek(h)
		return done
	})
	Wait(&h)
}

// A request that waits for a condition knows the line that waits, and not the one of
// the operation that had its slot before.
func TestAWaitForAConditionKnowsItsCallers(t *testing.T) {
	s := loops(t, 1, Config{NoThread: true})[0]
	var word atomic.Int64
	here := func(h Handle) {
		t.Helper()
		f, _ := runtime.CallersFrames(h.r.Place[:]).Next()
		if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
			if !strings.HasSuffix(f.File, "watch_test.go") {
				t.Errorf("it was called from %s:%d", f.File, f.Line)
			}
		}
	}
	h := s.l.Watch(expiry.Expiry{}, atLeast{word: &word, want: 1})
	here(h)
	ended := make(chan error)
	go func() { ended <- s.l.WaitFor(expiry.Expiry{}, atLeast{word: &word, want: 1}) }()
	waitUntil(t, func() (both bool) {
		s.own(func() {
			s.l.Each(&s.l.watching, func(r *Request) {
				if r != h.r {
					both = true
					here(r.Handle())
				}
			})
		})
		return both
	})
	word.Store(1)
	s.l.dom.Wake()
	if _, err := Wait(&h); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// waitUntil lets others run until the condition holds.
func waitUntil(t *testing.T, f func() bool) {
	t.Helper()
	for start := time.Now(); !f(); runtime.Gosched() {
		if time.Since(start) > patience {
			t.Fatal("it does not come")
		}
	}
}

// What makes a condition true that no bell announces is done by an owner, who sees it
// before it leaves.
func TestAConditionOnOperationsIsSeenByWhoLeaves(t *testing.T) {
	s := loops(t, 1, Config{NoThread: true})[0]
	var word atomic.Int64
	left := func() (n int) {
		s.l.Exclusive(func() { n = s.l.watching.inward })
		return n
	}
	first := s.l.Watch(expiry.Expiry{}, atLeast{word: &word, want: 1})
	second := s.l.Watch(expiry.Expiry{}, atLeast{word: &word, want: 2})
	for n := 2; n >= 0; n-- {
		if got := left(); got != n {
			t.Errorf("%d conditions are left, want %d", got, n)
		}
		s.l.Exclusive(func() { word.Add(1) })
	}
	for _, h := range []*Handle{&first, &second} {
		if ended, _, err := Test(h); !ended || err != nil {
			t.Errorf("Test gives %t, %v", ended, err)
		}
	}
}
