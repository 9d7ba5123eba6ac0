package progress

import (
	"runtime"
	"sync"
	"testing"
)

// holder is a sink whose starts are held, if they can be. What a start is begun with again
// completes it, as Carry does.
type holder struct {
	Passive
	l              *Loop
	held           bool
	starts, begun  int // held or not, and once more
	carries, loose int // and starts that were not held
}

func (s *holder) Start(r *Request) {
	switch {
	case s.held:
		s.held = false
		s.begun++
		s.l.Finish(r, nil)
	case s.l.Hold(r):
		s.starts++
		s.held = true
	default:
		s.loose++
		s.l.Finish(r, nil)
	}
}

func (s *holder) Carry(r *Request) {
	s.held = false
	s.carries++
	s.l.Finish(r, nil)
}

func holding(t *testing.T) (*holder, Handle) {
	l := loops(t, 1, Config{NoThread: true})[0].l
	s := &holder{l: l}
	return s, l.Persist(s, l.NewShared())
}

// The call that waits for a held request goes on with it.
func TestAWaitCarriesWhatIsHeld(t *testing.T) {
	s, h := holding(t)
	const n = 1000
	for range n {
		if err := Restart(h); err != nil {
			t.Fatal(err)
		}
		if _, err := Wait(&h); err != nil {
			t.Fatal(err)
		}
	}
	// Some starts are measured, which takes a request.
	if s.carries != s.starts || s.starts+s.loose != n || s.loose > n/10 || s.begun != 0 || s.l.steps != 0 {
		t.Errorf("%+v, %d steps", *s, s.l.steps)
	}
}

// Every other owner begins it first.
func TestAnyOtherOwnerBeginsWhatIsHeld(t *testing.T) {
	for name, call := range map[string]func(l *Loop, h *Handle){
		"Exclusive": func(l *Loop, _ *Handle) { l.Exclusive(func() {}) },
		"Open":      func(l *Loop, _ *Handle) { r, _ := l.Open(); l.Free(r); l.Leave() },
		"Test":      func(l *Loop, h *Handle) { Test(h) },
		"Waitall":   func(l *Loop, h *Handle) { WaitAll([]Handle{*h}, nil) },
		"Cancel":    func(l *Loop, h *Handle) { Cancel(*h) },
		"push": func(l *Loop, _ *Handle) {
			w := newWaiter()
			w.fn = func() {}
			l.push(&w.node)
		},
		"another wait": func(l *Loop, _ *Handle) {
			other := l.Generalize(&General{})
			EndGeneral(other)
			WaitResult(&other)
		},
	} {
		s, h := holding(t)
		if err := Restart(h); err != nil {
			t.Fatal(err)
		}
		if call(s.l, &h); s.begun != 1 || s.carries != 0 || s.l.steps != 0 {
			t.Errorf("%s: %+v, %d steps", name, *s, s.l.steps)
		}
	}
}

// A start of several, and one while a waiter polls, is not held.
func TestStartsOfSeveralAreNotHeld(t *testing.T) {
	s, h := holding(t)
	if err := RestartAll([]Handle{h}); err != nil || s.loose != 1 {
		t.Errorf("%v, %+v", err, *s)
	}
}

// Goroutines that use the loop between a start and its wait neither lose it nor carry it
// twice, and what they queue meanwhile is done.
func TestHeldStartsAmongOtherOwners(t *testing.T) {
	s, h := holding(t)
	done := make(chan struct{})
	var others sync.WaitGroup
	for range 3 {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					s.l.Exclusive(func() {})
					runtime.Gosched()
				}
			}
		})
	}
	const rounds = 20_000
	for range rounds {
		if err := Restart(h); err != nil {
			t.Error(err)
			break
		}
		if _, err := Wait(&h); err != nil {
			t.Error(err)
			break
		}
	}
	close(done)
	others.Wait()
	if s.starts+s.loose != rounds || s.carries+s.begun != s.starts || s.l.steps != 0 {
		t.Errorf("%+v, %d steps", *s, s.l.steps)
	}
}
