package progress

import (
	"errors"
	"runtime"
	"slices"
	"testing"
)

// RestartAll starts its requests in order, also those of several loops and more
// than one burst of them, and nothing behind the first that can't be started.
func TestRestartAllStopsAtTheFirstError(t *testing.T) {
	type step struct{ loop, times int }
	for _, c := range []struct {
		name  string
		steps []step
		bad   func(good Handle) (Handle, error)
	}{
		{"none", nil, nil},
		{"one loop", []step{{0, 2*burst + 3}}, nil},
		{"loops in turn", []step{{0, 2}, {1, burst + 1}, {0, 1}, {1, 1}}, nil},
		{"a null handle", []step{{0, 3}, {1, 2}}, func(Handle) (Handle, error) { return Handle{}, ErrStale }},
		{"an active one", []step{{0, burst}}, func(good Handle) (Handle, error) { return good, ErrActive }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ss := loops(t, 2, Config{})
			var hs []Handle
			var want [2][]uint64
			for _, s := range ss {
				s.own(func() { s.started = []uint64{} })
			}
			for _, st := range c.steps {
				for range st.times {
					imm := uint64(len(hs))
					hs = append(hs, ss[st.loop].persist(forever, imm))
					want[st.loop] = append(want[st.loop], imm)
				}
			}
			var wanted error
			all := hs
			if c.bad != nil {
				var h Handle
				h, wanted = c.bad(hs[0])
				all = append(slices.Clone(hs), h, ss[0].persist(forever, 999))
			}
			if err := RestartAll(all); !errors.Is(err, wanted) || (err == nil) != (wanted == nil) {
				t.Errorf("RestartAll = %v, want %v", err, wanted)
			}
			for i, s := range ss {
				s.own(func() {
					if !slices.Equal(s.started, want[i]) {
						t.Errorf("loop %d started %v, want %v", i, s.started, want[i])
					}
					s.tell()
				})
			}
			if err := WaitAll(slices.DeleteFunc(slices.Clone(hs), func(h Handle) bool { return h.r.loop != ss[0].l }), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// While another goroutine owns the loop it starts them, and the caller waits.
func TestRestartAllWhereAnotherOwns(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	s.own(func() { s.started = []uint64{} })
	var hs []Handle
	for i := range 5 {
		hs = append(hs, s.persist(forever, uint64(i)))
	}
	for !s.l.Enter() {
		runtime.Gosched()
	}
	done := make(chan error)
	go func() { done <- RestartAll(hs) }()
	for s.l.queue.empty() {
		runtime.Gosched()
	}
	s.l.Leave()
	if err := <-done; err != nil {
		t.Error(err)
	}
	s.own(func() {
		if !slices.Equal(s.started, []uint64{0, 1, 2, 3, 4}) {
			t.Errorf("started %v", s.started)
		}
		s.tell()
	})
	if err := WaitAll(hs, nil); err != nil {
		t.Error(err)
	}
}
