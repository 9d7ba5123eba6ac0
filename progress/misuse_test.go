package progress

import (
	"errors"
	"runtime"
	"testing"
)

func TestTwoGoroutinesCannotWaitForOneRequest(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	h := s.submit(forever, 0, 1)
	c := h
	results := make(chan error, 2)
	for _, h := range []*Handle{&h, &c} {
		go func() {
			_, err := Wait(h)
			results <- err
		}()
	}
	if err := <-results; !errors.Is(err, ErrStale) {
		t.Errorf("the second Wait = %v", err)
	}
	s.own(s.tell)
	if err := <-results; err != nil {
		t.Errorf("the first Wait = %v", err)
	}
	s.checkFree(t)
}

// A wait that has only just begun has left no trace on the request yet.
func TestAWaitIsRefusedThatAnotherHasOvertaken(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	for _, endsSoon := range []bool{false, true} {
		h := s.begin(forever, 0, 1)
		c := h
		result := make(chan error, 1)
		for !s.l.Enter() {
			runtime.Gosched()
		}
		go func() {
			_, err := Wait(&c)
			result <- err
		}()
		for s.l.queue.empty() {
			runtime.Gosched()
		}
		if endsSoon {
			s.l.drain()
			s.tell()
		}
		_, first := s.l.Await(h.r)
		if !endsSoon {
			s.own(s.tell)
		}
		second := <-result
		refused, other := first, second
		if endsSoon {
			refused, other = second, first
		}
		if !errors.Is(refused, ErrStale) || other != nil {
			t.Errorf("ends soon: %t: one Wait = %v, the other = %v", endsSoon, refused, other)
		}
		s.checkFree(t)
	}
}

// A copy of the handle has completed the request while a wait for it has left no
// trace on it: whatever the request is now is not the wait's.
func TestAWaitIsRefusedWhoseRequestACopyHasCompleted(t *testing.T) {
	for _, c := range []struct {
		name             string
		persistent, next bool
	}{{"free", false, false}, {"used again", false, true}, {"at rest", true, false}} {
		s := loops(t, 1, Config{})[0]
		var h Handle
		if c.persistent {
			h = s.persist(forever, 0)
			if err := Restart(h); err != nil {
				t.Fatal(err)
			}
		} else {
			h = s.begin(forever, 0, 1)
		}
		for !s.l.Enter() {
			runtime.Gosched()
		}
		done := make(chan Handle)
		go s.l.Exclusive(func() {
			s.tell()
			other := h
			if ended, _, err := s.l.test(&other, false); !ended || err != nil {
				t.Errorf("%s: Test = %t, %v", c.name, ended, err)
			}
			next := Handle{}
			if c.next {
				r := s.l.New()
				r.Kind = forever
				next = r.Handle()
				s.l.Begin(s, r)
			}
			go func() { done <- next }()
		})
		for s.l.queue.empty() {
			runtime.Gosched()
		}
		if _, err := s.l.Await(h.r); !errors.Is(err, ErrStale) {
			t.Errorf("%s: Wait = %v, want ErrStale", c.name, err)
		}
		if next := <-done; !next.Null() {
			s.own(s.tell)
			if _, err := Wait(&next); err != nil {
				t.Errorf("%s: Wait for the next: %v", c.name, err)
			}
		}
		if c.persistent {
			if _, err := Release(&h); err != nil {
				t.Errorf("%s: Release: %v", c.name, err)
			}
		}
		s.checkFree(t)
	}
}

// A copy of a handle is told from the next request in the slot.
func TestACopyOfAHandleIsStaleOnceItsSlotIsUsedAgain(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	h := s.begin(atOnce, 0, 1)
	c := h
	if _, err := Wait(&h); err != nil {
		t.Fatal(err)
	}
	next := s.begin(forever, 0, 2)
	if next.r != c.r {
		t.Fatal("the slot is not used again")
	}
	if idle, stale := Look(c); idle || !errors.Is(stale, ErrStale) {
		t.Errorf("the copy is idle: %t, stale: %v", idle, stale)
	}
	if ended, _, err := Test(&c); ended || !errors.Is(err, ErrStale) {
		t.Errorf("Test of the copy = %t, %v", ended, err)
	}
	s.own(s.tell)
	if ended, st, err := Test(&next); !ended || st.Bytes != 2 || err != nil {
		t.Errorf("Test of the next request = %t, %d, %v", ended, st.Bytes, err)
	}
	s.checkFree(t)
}

func TestRequestsOfTwoLoopsDoNotMix(t *testing.T) {
	toys := loops(t, 2, Config{})
	hs := []Handle{toys[0].submit(atOnce, 0, 1), {}, toys[1].submit(atOnce, 1, 2)}
	if err := WaitAll(hs, nil); !errors.Is(err, ErrMixed) {
		t.Errorf("WaitAll = %v", err)
	}
	if _, _, err := WaitAny(hs); !errors.Is(err, ErrMixed) {
		t.Errorf("WaitAny = %v", err)
	}
	if _, err := TestAll(hs, nil); !errors.Is(err, ErrMixed) {
		t.Errorf("TestAll = %v", err)
	}
	for i := range hs {
		if _, err := Wait(&hs[i]); err != nil {
			t.Errorf("Wait afterwards: %v", err)
		}
	}
}
