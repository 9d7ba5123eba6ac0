package progress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// Goroutines start and complete operations in every way there is, on one loop
// whose packets have to wait for room. Each gets its own result, once.
func TestManyGoroutinesShareOneLoop(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		opts []mem.Option
	}{
		{"plain", Config{}, nil},
		{"without thread", Config{NoThread: true}, nil},
		{"oversubscribed", Config{Oversubscribed: true}, nil},
		{"little room", Config{}, []mem.Option{mem.WithDepth(2)}},
		{"difficult", Config{}, []mem.Option{mem.WithSeed(7), mem.WithDepth(3)}},
	} {
		for _, park := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/park=%t", c.name, park), func(t *testing.T) {
				toys := loops(t, 2, c.cfg, c.opts...)
				if park {
					for _, s := range toys {
						s.own(func() { s.l.budget.whole = 0 })
					}
				}
				var tokens atomic.Uint64
				attended(t, toys, 12, func(g int) { hammer(t, toys[g%2], &tokens, uint64(g)) })
				for _, s := range toys {
					s.checkFree(t)
				}
			})
		}
	}
}

// attended is together, with every loop turned until all have ended: without
// progress thread a rank that has ended its part answers nobody.
func attended(t *testing.T, toys []*toy, n int, f func(i int)) {
	t.Helper()
	var running atomic.Int64
	running.Store(int64(n))
	together(t, n, func(i int) {
		f(i)
		running.Add(-1)
		for s := toys[i%len(toys)]; running.Load() > 0 && !s.l.threaded; runtime.Gosched() {
			s.own(s.l.PollOnce)
		}
	})
}

// hammer does operations of one goroutine.
func hammer(t *testing.T, s *toy, tokens *atomic.Uint64, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	var old []Handle // copies of handles that have been completed
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		n := 1 + rnd.IntN(5)
		hs := make([]Handle, n)
		want := make([]uint64, n)
		for i := range hs {
			kind := []uint8{atOnce, letter}[rnd.IntN(2)]
			peer := rnd.IntN(2)
			want[i] = tokens.Add(1)
			if rnd.IntN(2) == 0 {
				hs[i] = s.submit(kind, peer, want[i])
			} else {
				hs[i] = s.begin(kind, peer, want[i])
			}
		}
		copies := append([]Handle{}, hs...)
		check := func(i int, st Status, err error) {
			if err != nil || st.Bytes != want[i] {
				t.Errorf("request %d got the result of %d, %v", want[i], st.Bytes, err)
			}
		}
		out := make([]Status, n)
		switch rnd.IntN(6) {
		case 0:
			for i := range hs {
				st, err := Wait(&hs[i])
				check(i, st, err)
			}
		case 1:
			for i := range hs {
				for {
					ended, st, err := Test(&hs[i])
					if ended || err != nil {
						check(i, st, err)
						break
					}
					runtime.Gosched()
				}
			}
		case 2:
			for range hs {
				i, st, err := WaitAny(hs)
				if i < 0 {
					t.Errorf("WaitAny = %d, %v", i, err)
					return
				}
				check(i, st, err)
			}
			if i, st, err := WaitAny(hs); i != -1 || st != Empty || err != nil {
				t.Errorf("WaitAny of nothing = %d, %+v, %v", i, st, err)
			}
		case 3:
			if err := WaitAll(hs, out); err != nil {
				t.Error(err)
			}
			for i := range hs {
				check(i, out[i], out[i].Err)
			}
		case 4:
			for {
				ended, err := TestAll(hs, out)
				if err != nil {
					t.Error(err)
				}
				if ended {
					break
				}
				runtime.Gosched()
			}
			for i := range hs {
				check(i, out[i], out[i].Err)
			}
		case 5:
			if err := WaitAll(hs, nil); err != nil {
				t.Error(err)
			}
		}
		for i := range hs {
			if !hs[i].Null() {
				t.Errorf("handle %d is not null after it was completed", i)
			}
		}
		// A blocking operation in between.
		token := tokens.Add(1)
		st, err := s.l.Do(s, s.shared(letter, rnd.IntN(2), token, nil))
		if err != nil || st.Bytes != token {
			t.Errorf("Do of %d = %d, %v", token, st.Bytes, err)
		}
		old = append(old, copies...)
		stale(t, old[rnd.IntN(len(old))])
	}
}

// stale checks that a copy of a completed handle is told from the request
// that uses its place now.
func stale(t *testing.T, h Handle) {
	t.Helper()
	c := h
	if st, err := Wait(&c); !errors.Is(err, ErrStale) || st != Empty {
		t.Errorf("Wait of a stale handle = %+v, %v", st, err)
	}
	c = h
	if ended, _, err := Test(&c); ended || !errors.Is(err, ErrStale) {
		t.Errorf("Test of a stale handle = %t, %v", ended, err)
	}
	c = h
	if i, _, err := WaitAny([]Handle{{}, c}); i != -1 || !errors.Is(err, ErrStale) {
		t.Errorf("WaitAny of a stale handle = %d, %v", i, err)
	}
	c = h
	if err := WaitAll([]Handle{c}, nil); !errors.Is(err, ErrStale) {
		t.Errorf("WaitAll of a stale handle = %v", err)
	}
	c = h
	if ended, err := TestAll([]Handle{c}, nil); !ended || !errors.Is(err, ErrStale) {
		t.Errorf("TestAll of a stale handle = %t, %v", ended, err)
	}
}

// Every round sleeps on both sides: the waiter on its channel, the loops on
// their doorbells.
func TestNoWakeUpIsLostWhenEveryWaitSleeps(t *testing.T) {
	// With one processor nobody can answer while the waiter spins.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, noThread := range []bool{false, true} {
		t.Run(fmt.Sprintf("noThread=%t", noThread), func(t *testing.T) {
			toys := loops(t, 2, Config{NoThread: noThread})
			for _, s := range toys {
				s.own(func() { s.l.budget.whole = 0 })
			}
			rounds := uint64(3000)
			if testing.Short() {
				rounds = 300
			}
			attended(t, toys, 2, func(g int) {
				s := toys[g]
				for i := range rounds {
					// Both need the other to answer; a rank whose own operation
					// has ended goes on answering because it sleeps in the next.
					token := i<<1 | uint64(g)
					st, err := s.l.Do(s, s.shared(letter, 1-g, token, nil))
					if err != nil || st.Bytes != token {
						t.Errorf("round %d: %d, %v", i, st.Bytes, err)
						return
					}
				}
			})
		})
	}
}

// The progress thread answers for an application that computes, from the first
// packet on, though nothing has ever waited on that rank.
func TestTheProgressThreadServesARankThatNeverWaits(t *testing.T) {
	toys := loops(t, 2, Config{})
	together(t, 1, func(int) {
		for i := range uint64(20) {
			if st, err := toys[0].l.Do(toys[0], toys[0].shared(letter, 1, i, nil)); err != nil || st.Bytes != i {
				t.Errorf("question %d: %d, %v", i, st.Bytes, err)
			}
		}
	})
}

// What one goroutine submits starts in its order, whoever owns the loop.
func TestOperationsOfOneGoroutineStartInOrder(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	s.own(func() { s.started = []uint64{} })
	const n, each = 8, 300
	together(t, n, func(g int) {
		var hs []Handle
		for i := range uint64(each) {
			hs = append(hs, s.submit(atOnce, 0, uint64(g)<<32|i))
		}
		if err := WaitAll(hs, nil); err != nil {
			t.Error(err)
		}
	})
	next := [n]uint64{}
	s.own(func() {
		for _, token := range s.started {
			g, i := token>>32, token&(1<<32-1)
			if next[g] != i {
				t.Fatalf("goroutine %d: operation %d started when %d was due", g, i, next[g])
			}
			next[g]++
		}
	})
	for g, got := range next {
		if got != each {
			t.Errorf("goroutine %d: %d of %d operations started", g, got, each)
		}
	}
}

// A context ends a wait at the same moment as the operation ends: one of the
// two is the result.
func TestACancellationAndAnEndMeetOnlyOnce(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	var canceled, told atomic.Int64
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	together(t, 8, func(g int) {
		rnd := rand.New(rand.NewPCG(uint64(g), 3))
		for i := range rounds {
			ctx, cancel := context.WithCancel(context.Background())
			token := uint64(g)<<32 | uint64(i)
			r := s.shared(forever, 0, token, ctx)
			enders := []func(){cancel, func() { s.own(s.tell) }}
			k := rnd.IntN(2)
			go enders[k]()
			go enders[1-k]()
			var bytes uint64
			var err error
			if rnd.IntN(2) == 0 {
				var res Result
				res, err = s.l.Do(s, r)
				bytes = res.Bytes
			} else {
				h := r.Handle()
				s.l.Submit(s, r)
				var st Status
				st, err = Wait(&h)
				bytes = st.Bytes
			}
			cancel()
			switch {
			case bytes != token:
				t.Errorf("request %d got the result of %d", token, bytes)
			case err == nil:
				told.Add(1)
			case errors.Is(err, context.Canceled):
				canceled.Add(1)
			default:
				t.Error(err)
			}
		}
	})
	s.own(func() {
		if int64(s.canceled) != canceled.Load() {
			t.Errorf("%d requests were canceled, %d waits say so", s.canceled, canceled.Load())
		}
	})
	s.checkFree(t)
}

func TestContextsOfSeveralRequestsEndOneWait(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	together(t, 1, func(int) {
		var hs []Handle
		var cancels []context.CancelFunc
		for i := range 3 {
			ctx, cancel := context.WithCancel(context.Background())
			cancels = append(cancels, cancel)
			r := s.shared(forever, 0, uint64(i), ctx)
			hs = append(hs, r.Handle())
			s.l.Submit(s, r)
		}
		for _, i := range []int{1, 0, 2} {
			go cancels[i]()
			got, _, err := WaitAny(hs)
			if got != i || !errors.Is(err, context.Canceled) {
				t.Errorf("WaitAny = %d, %v, want %d canceled", got, err, i)
			}
		}
	})
	s.checkFree(t)
}

func TestCloseEndsEveryWaitAndWhatComesLater(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	const n = 6
	results := make(chan error, n)
	together(t, 1, func(int) {
		for i := range n {
			r := s.shared(forever, 0, uint64(i), nil)
			go func() {
				_, err := s.l.Do(s, r)
				results <- err
			}()
		}
		for waiting := 0; waiting < n; {
			s.own(func() { waiting = len(s.waiting) })
		}
		s.l.Close()
		for range n {
			if err := <-results; !errors.Is(err, fabric.ErrClosed) {
				t.Errorf("a wait ended with %v", err)
			}
		}
		if _, err := s.l.Do(s, s.shared(forever, 0, 9, nil)); !errors.Is(err, fabric.ErrClosed) {
			t.Errorf("Do afterwards = %v", err)
		}
		h := s.submit(forever, 0, 10)
		if _, err := Wait(&h); !errors.Is(err, fabric.ErrClosed) {
			t.Errorf("Wait afterwards = %v", err)
		}
	})
}
