package shm

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// ringing replaces the write to a doorbell before any domain opens. what is
// called instead once on is set, which pairs with the load in the write.
type ringing struct {
	on   atomic.Bool
	what func(fd uintptr, write func())
}

func whenRinging(t *testing.T, what func(fd uintptr, write func())) *ringing {
	r := &ringing{what: what}
	old := ringBell
	instead(t, &ringBell, func(fd uintptr) {
		if !r.on.Load() {
			old(fd)
			return
		}
		r.what(fd, func() { old(fd) })
	})
	return r
}

// star is rank 0, which sleeps, and peers that can send to it.
type star struct {
	t    *testing.T
	hub  *node
	rays []*ray
}

type ray struct {
	*node
	to fabric.Endpoint
}

func newStar(t *testing.T, senders int) *star {
	t.Helper()
	ds := openJob(t, senders+1)
	s := &star{t: t, hub: newNode(t, ds[0])}
	for _, d := range ds[1:] {
		r := &ray{node: newNode(t, d)}
		var err error
		if r.to, err = d.Connect(0, ds[0].Addr()); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "a connection", func() bool {
			d.Poll(r, 64)
			s.hub.d.Poll(s.hub, 64)
			return r.to.Send(1, 0, nil, []byte("hello")) == nil
		})
		s.rays = append(s.rays, r)
	}
	waitFor(t, "the first messages", func() bool { s.hub.d.Poll(s.hub, 64); return len(s.hub.got) == senders })
	s.hub.got = nil
	s.hub.d.bellConn.Control(func(fd uintptr) { drainBell(fd) }) // the connections have rung
	return s
}

// fallAsleep arms and looks once more, as the engine does before each Wait.
func (s *star) fallAsleep(w fabric.Wake) {
	s.t.Helper()
	if err := s.hub.d.Arm(w); err != nil {
		s.t.Fatal(err)
	}
	for s.hub.d.Poll(s.hub, 64) > 0 {
	}
}

// sleepUntil sleeps as the engine does until n messages have come. Only the
// doorbell may end a Wait.
func (s *star) sleepUntil(w fabric.Wake, n int, what string) {
	s.t.Helper()
	for s.fallAsleep(w); len(s.hub.got) < n; s.fallAsleep(w) {
		s.wait(what)
	}
}

func (s *star) wait(what string) {
	s.t.Helper()
	start := time.Now()
	if err := s.hub.d.Wait(patience); err != nil {
		s.t.Fatal(err)
	}
	if time.Since(start) >= patience {
		found := s.hub.d.Poll(s.hub, 64)
		s.t.Fatalf("nobody rang for %s; a Poll finds %d messages", what, found)
	}
}

// A sender that is stopped anywhere in a ring, for however long, keeps nobody
// else's message from waking the sleeper.
func TestASenderThatStopsWhileItRingsMakesNobodyDeaf(t *testing.T) {
	for _, w := range []fabric.Wake{fabric.WakeUrgent, fabric.WakeAll} {
		for _, before := range []bool{true, false} {
			where := "behind"
			if before {
				where = "before"
			}
			t.Run(fmt.Sprintf("level %d, %s the write", w, where), func(t *testing.T) {
				stopped, goOn := make(chan struct{}), make(chan struct{})
				var first atomic.Bool // the first to set it is the one that stops
				bell := whenRinging(t, func(fd uintptr, write func()) {
					if !first.CompareAndSwap(false, true) {
						write()
						return
					}
					if !before {
						write()
					}
					close(stopped)
					<-goOn
					if before {
						write()
					}
				})
				s := newStar(t, 2)
				send := func(from int, body string) {
					if err := s.rays[from].to.Send(1|fabric.Urgent, 0, nil, []byte(body)); err != nil {
						t.Error(err)
					}
				}
				bell.on.Store(true)
				s.fallAsleep(w)
				over := make(chan struct{})
				go func() {
					defer close(over)
					send(0, "of the one that stops")
				}()
				<-stopped
				if !before {
					s.sleepUntil(w, 1, "the message of the one that stops")
					s.fallAsleep(w)
				}
				// Rank 0 sleeps, in vain for the first where that has not rung yet.
				send(1, "while it is stopped")
				s.wait("a message sent while another sender is stopped")
				s.sleepUntil(w, 2, "both messages")

				// It goes on in the middle of a later sleep: that must not be
				// taken for the one that it has rung for.
				s.fallAsleep(w)
				close(goOn)
				<-over
				send(1, "after it has gone on")
				s.wait("a message sent after it has gone on")
				s.sleepUntil(w, 3, "all three")
			})
		}
	}
}

// Senders ring at once for a sleeper that wakes, looks and sleeps again, and
// each may be held up anywhere in its ring.
func TestNoWakeUpIsLostAmongManySenders(t *testing.T) {
	const senders = 4
	rounds := 4000
	if testing.Short() {
		rounds = 500
	}
	hold := func() {
		for range rand.IntN(4) {
			runtime.Gosched()
		}
	}
	bell := whenRinging(t, func(_ uintptr, write func()) {
		hold()
		write()
		hold()
	})
	s := newStar(t, senders)
	bell.on.Store(true)
	// A sender sends its next message when rank 0 has taken the last: so rank 0
	// runs out of messages and has to sleep.
	var taken [senders]chan struct{}
	var all sync.WaitGroup
	defer all.Wait()
	for i, r := range s.rays {
		taken[i] = make(chan struct{}, 1)
		defer close(taken[i])
		taken[i] <- struct{}{}
		all.Go(func() {
			for range taken[i] {
				if err := r.to.Send(1|fabric.Urgent, 0, nil, []byte{byte(i)}); err != nil {
					t.Errorf("Send: %v", err)
					return
				}
			}
		})
	}
	for n := 0; n < senders*rounds; {
		s.sleepUntil(fabric.Wake(1+rand.IntN(2)), 1, "the messages of several")
		if rand.IntN(2) == 0 {
			s.hub.d.Disarm()
		}
		for _, body := range s.hub.got {
			taken[body[0]] <- struct{}{}
			n++
		}
		s.hub.got = s.hub.got[:0]
	}
}

// However many ring at once, each rings once for one arming.
func TestASenderRingsOnceForOneArming(t *testing.T) {
	const senders = 3
	var rings atomic.Int32 // each ring's Add pairs with the load below
	bell := whenRinging(t, func(_ uintptr, write func()) { rings.Add(1); write() })
	s := newStar(t, senders)
	bell.on.Store(true)
	s.fallAsleep(fabric.WakeAll)
	var all sync.WaitGroup
	for _, r := range s.rays {
		all.Go(func() {
			for range 100 {
				if err := r.to.Send(1, 0, nil, nil); err != nil {
					t.Errorf("Send: %v", err)
				}
			}
		})
	}
	all.Wait()
	if n := rings.Load(); n < 1 || n > senders {
		t.Errorf("%d senders of 100 messages each have rung %d times for one sleep", senders, n)
	}
	s.sleepUntil(fabric.WakeAll, 100*senders, "messages")
}
