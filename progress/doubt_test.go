package progress

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
)

var errDoubt = errors.New("in doubt")

// Doubts come and go while goroutines wait in all ways. Each wait that they end leaves its
// requests under way, and each request completes once, with its own result.
func TestADoubtEndsWaitsAndNoRequest(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	const goroutines = 4
	var left, doubted atomic.Int64
	left.Store(goroutines)
	together(t, goroutines+1, func(g int) {
		rnd := rand.New(rand.NewPCG(uint64(g), 5))
		if g == goroutines {
			for left.Load() > 0 {
				s.own(func() {
					for r := range s.waiting {
						if rnd.IntN(2) == 0 {
							s.l.Doubt(r, errDoubt)
						} else {
							s.l.Trust(r)
						}
					}
					if rnd.IntN(8) == 0 {
						s.tell()
					}
				})
				runtime.Gosched()
			}
			return
		}
		defer left.Add(-1)
		// took looks at a request that a wait has gone on with, and reports whether it has
		// completed.
		took := func(h Handle, st Status, err error, token uint64) bool {
			switch {
			case errors.Is(err, errDoubt):
				doubted.Add(1)
				runtime.Gosched()
				if h.Null() {
					t.Error("a request in doubt has become null")
				}
				return false
			case err != nil || st.Bytes != token || !h.Null():
				t.Errorf("request %d has completed with that of %d, %v", token, st.Bytes, err)
			}
			return true
		}
		for i := range rounds {
			var hs []Handle
			for range 1 + rnd.IntN(3) {
				r := s.shared(forever, 0, uint64(g)<<32|uint64(i)<<2|uint64(len(hs)), nil)
				hs = append(hs, r.Handle())
				s.l.Submit(s, r)
			}
			token := func(k int) uint64 { return uint64(g)<<32 | uint64(i)<<2 | uint64(k) }
			out, at := make([]Status, len(hs)), make([]int, len(hs))
			for left := len(hs); left > 0; {
				switch rnd.IntN(5) {
				case 0:
					k := rnd.IntN(len(hs))
					if was := hs[k]; !was.Null() {
						if st, err := Wait(&hs[k]); took(hs[k], st, err, token(k)) {
							left--
						}
					}
				case 1:
					k := rnd.IntN(len(hs))
					if was := hs[k]; !was.Null() {
						if ended, st, err := Test(&hs[k]); ended && took(hs[k], st, err, token(k)) {
							left--
						} else if !ended && (hs[k] != was || err != nil && !errors.Is(err, errDoubt)) {
							t.Errorf("Test of request %d: %v", token(k), err)
						}
					}
				case 2:
					if k, st, err := WaitAny(hs); k < 0 {
						t.Errorf("WaitAny = %d, %v", k, err)
					} else if took(hs[k], st, err, token(k)) {
						left--
					}
				case 3:
					n, err := WaitSome(hs, at, out)
					if n < 1 || err != nil {
						t.Errorf("WaitSome = %d, %v", n, err)
					}
					for j := range n {
						if took(hs[at[j]], out[j], out[j].Err, token(at[j])) {
							left--
						}
					}
				default:
					had := append([]Handle(nil), hs...)
					if err := WaitAll(hs, out); err != nil {
						t.Errorf("WaitAll: %v", err)
					}
					for k := range hs {
						if !had[k].Null() && took(hs[k], out[k], out[k].Err, token(k)) {
							left--
						}
					}
				}
			}
		}
	})
	if doubted.Load() == 0 {
		t.Error("no wait was ended by a doubt")
	}
	s.checkFree(t)
}

// A callback is for the end of a request, which a doubt is not.
func TestADoubtCallsNoCallback(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	r := s.shared(forever, 0, 7, nil)
	h := r.Handle()
	s.l.Submit(s, r)
	calls := make(chan error, 2)
	if err := OnEnd(&h, func(_ Status, err error) { calls <- err }); err != nil {
		t.Fatal(err)
	}
	s.own(func() { s.l.Doubt(r, errDoubt) })
	s.own(s.tell)
	if err := <-calls; err != nil {
		t.Errorf("the callback got %v", err)
	}
	s.checkFree(t)
}
