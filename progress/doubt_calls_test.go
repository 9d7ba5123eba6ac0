package progress

import (
	"context"
	"errors"
	"testing"
)

// No call waits for a request in doubt, or gives up its handle.
func TestADoubtIsToldByEachCall(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel() // so that a call which waits ends with another error
	for name, c := range map[string]struct {
		until context.Context
		call  func(hs []Handle) error
	}{
		"Wait":     {ended, func(hs []Handle) error { _, err := Wait(&hs[0]); return err }},
		"WaitAny":  {ended, func(hs []Handle) error { _, _, err := WaitAny(hs); return err }},
		"WaitAll":  {ended, func(hs []Handle) error { return WaitAll(hs, nil) }},
		"WaitSome": {ended, func(hs []Handle) error { return someOf(WaitSome, hs) }},
		"Test":     {nil, func(hs []Handle) error { _, _, err := Test(&hs[0]); return err }},
		"Peek":     {nil, func(hs []Handle) error { _, _, err := Peek(hs[0]); return err }},
		"TestAny":  {nil, func(hs []Handle) error { _, _, _, err := TestAny(hs); return err }},
		"TestAll":  {nil, func(hs []Handle) error { _, err := TestAll(hs, nil); return err }},
		"TestSome": {nil, func(hs []Handle) error { return someOf(TestSome, hs) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := loops(t, 1, Config{})[0]
			r := s.shared(forever, 0, 7, c.until)
			hs := []Handle{r.Handle()}
			s.l.Submit(s, r)
			s.own(func() { s.l.Doubt(r, errDoubt) })
			for range 2 {
				if err := c.call(hs); !errors.Is(err, errDoubt) || hs[0].Null() {
					t.Errorf("%v, null %t", err, hs[0].Null())
				}
			}
			s.own(func() { s.l.Trust(r) })
			s.own(s.tell)
			if st, err := Wait(&hs[0]); err != nil || st.Bytes != 7 {
				t.Errorf("the request has completed with %d, %v", st.Bytes, err)
			}
			s.checkFree(t)
		})
	}
}

func someOf(call func([]Handle, []int, []Status) (int, error), hs []Handle) error {
	at, out := make([]int, len(hs)), make([]Status, len(hs))
	if n, err := call(hs, at, out); n != 1 || err != nil {
		return err
	}
	return out[0].Err
}

// A doubt ends the wait that is under way.
func TestADoubtEndsAWaitUnderWay(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	r := s.shared(forever, 0, 7, nil)
	h := r.Handle()
	s.l.Submit(s, r)
	ended := make(chan error, 1)
	go func() {
		_, err := Wait(&h)
		ended <- err
	}()
	for waits := false; !waits; {
		s.own(func() {
			if waits = r.waiter != nil; waits {
				if s.l.Doubt(r, errDoubt); r.waiter != nil {
					t.Error("the request is waited for still")
					s.tell()
				}
			}
		})
	}
	if err := <-ended; !errors.Is(err, errDoubt) {
		t.Fatalf("the wait has ended with %v", err)
	}
	s.own(s.tell)
	if st, err := Wait(&h); err != nil || st.Bytes != 7 {
		t.Errorf("the request has completed with %d, %v", st.Bytes, err)
	}
	s.checkFree(t)
}

// Of several requests those that have completed come before those in doubt.
func TestADoubtComesLast(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	doubted, other := s.shared(forever, 0, 1, nil), s.shared(forever, 0, 2, nil)
	hs := []Handle{doubted.Handle(), other.Handle()}
	s.l.Submit(s, doubted)
	s.l.Submit(s, other)
	s.own(func() {
		s.l.Doubt(doubted, errDoubt)
		delete(s.waiting, other)
		s.finish(other)
	})
	if i, st, err := WaitAny(hs); i != 1 || st.Bytes != 2 || err != nil {
		t.Errorf("WaitAny = %d, %d, %v", i, st.Bytes, err)
	}
	s.own(s.tell)
	if st, err := Wait(&hs[0]); err != nil || st.Bytes != 1 {
		t.Errorf("the request in doubt has completed with %d, %v", st.Bytes, err)
	}
	s.checkFree(t)
}
