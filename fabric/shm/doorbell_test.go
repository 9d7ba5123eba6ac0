package shm

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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
	waitFor(t, "the connections to stand", func() bool {
		s.hub.d.Poll(s.hub, 64)
		return !slices.ContainsFunc(s.hub.d.peers[1:], func(e *endpoint) bool { return !e.up })
	})
	s.hub.got = nil
	s.hub.d.bellConn.Control(func(fd uintptr) { drainBell(fd) }) // the connections have rung
	return s
}

// own says that a ring is rank 0's own.
func (s *star) own(fd uintptr) bool { return fd == uintptr(s.hub.d.bellFD) }

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

// takeRing is wait for a ring that has to be there already.
func (s *star) takeRing(what string) {
	s.t.Helper()
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(s.hub.d.bellFD), Events: unix.POLLIN}}, 0); n != 1 || err != nil {
		s.t.Fatalf("nobody has rung for %s (%v)", what, err)
	}
	s.wait(what)
}

// The barrier comes behind the store of each new wake word, and with each: without
// it a sender sees no word, and this rank not its message.
func TestArmTellsSendersBehindItsWord(t *testing.T) {
	d := openJob(t, 1)[0].(*Domain)
	if !d.membarrier {
		t.Skip("the kernel has no expedited membarrier: senders fence")
	}
	var seen []uint64
	barrier := membarrier
	instead(t, &membarrier, func() unix.Errno {
		seen = append(seen, loadWake(word64(d.control, offWake)))
		return barrier()
	})
	var want []uint64
	for i := range 6 {
		if err := d.Arm(fabric.Wake(1 + i%2)); err != nil {
			t.Fatal(err)
		}
		if want = append(want, loadWake(word64(d.control, offWake))); want[i] == 0 || i > 0 && want[i] == want[i-1] {
			t.Errorf("the wake words are %#x", want)
		}
		if i%3 == 0 {
			d.Disarm()
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("the barriers have found the words %#x, want %#x", seen, want)
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
				var s *star
				bell := whenRinging(t, func(fd uintptr, write func()) {
					if s.own(fd) {
						return // of its connections, late: it would hide that nobody else rings
					}
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
				s = newStar(t, 2)
				send := func(from int, body string) {
					if err := s.rays[from].to.Send(1|fabric.Urgent, 0, nil, []byte(body)); err != nil {
						t.Error(err)
					}
				}
				bell.on.Store(true)
				defer bell.on.Store(false) // for Close
				s.fallAsleep(w)
				over := make(chan struct{})
				go func() {
					defer close(over)
					send(0, "of the one that stops")
				}()
				select {
				case <-stopped:
				case <-over:
					t.Fatal("it has not rung")
				}
				if !before {
					s.takeRing("the message of the one that stops")
					s.sleepUntil(w, 1, "the message of the one that stops")
					s.fallAsleep(w)
				}
				// Rank 0 sleeps, in vain for the first where that has not rung yet.
				send(1, "while it is stopped")
				s.takeRing("a message sent while another sender is stopped")
				s.sleepUntil(w, 2, "both messages")

				// It goes on in the middle of a later sleep: that must not be
				// taken for the one that it has rung for.
				s.fallAsleep(w)
				close(goOn)
				<-over
				send(1, "after it has gone on")
				s.takeRing("a message sent after it has gone on")
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
	var s *star
	bell := whenRinging(t, func(fd uintptr, write func()) {
		if !s.own(fd) {
			rings.Add(1)
		}
		write()
	})
	s = newStar(t, senders)
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
