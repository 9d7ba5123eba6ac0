package fabrictest

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

func sentBeforeArm(t *testing.T, h Harness) {
	r := open(t, h, 2)
	const rounds = 1000
	said := newSignal()
	r.together(func(n *node) {
		if n.rank == 0 {
			for i := range uint64(rounds) {
				n.send(1, 1, i, nil, nil)
				n.say(said)
			}
			return
		}
		got := n.count()
		for i := range rounds {
			n.hearOnly(said)
			n.sleepUntil(fabric.WakeAll, "a message sent before Arm", func() bool { return *got > i })
		}
	})
}

func sentAfterArm(t *testing.T, h Harness) {
	sleepThenSend(t, h, 1000, fabric.WakeAll, "a message sent after Arm", func(n *node, i int) {
		n.send(1, 1, uint64(i), nil, nil)
	})
}

func urgentWakesForUrgent(t *testing.T, h Harness) {
	sleepThenSend(t, h, 1000, fabric.WakeUrgent, "an Urgent message", func(n *node, i int) {
		n.send(1, 1|fabric.Urgent, uint64(i), nil, nil)
	})
}

func urgentWakesForNote(t *testing.T, h Harness) {
	var src fabric.Segment
	var dst fabric.Remote
	sleepThenSend(t, h, 300, fabric.WakeUrgent, "the note of a Put", func(n *node, i int) {
		op := n.start(func(op fabric.Op) error { return n.eps[1].Put(src, dst, uint32(i)+1, op) })
		n.wait("a Put to complete", func() bool { return !n.pending[op] })
	}, func(r *rig) {
		if !r.nodes[0].d.Caps().Put {
			t.Skip("not offered; see the case for what Caps does not offer")
		}
		src = r.nodes[0].region(make([]byte, 64), 0)
		dst = r.nodes[1].region(make([]byte, 64), fabric.LocalWrite|fabric.RemoteWrite).Region.Remote
	})
}

// sleepThenSend lets rank 1 arm and look once more before rank 0 does what
// must wake it.
func sleepThenSend(t *testing.T, h Harness, rounds int, w fabric.Wake, what string, send func(n *node, i int), setUp ...func(*rig)) {
	t.Helper()
	r := open(t, h, 2)
	for _, f := range setUp {
		f(r)
	}
	armed, taken := newSignal(), newSignal()
	r.together(func(n *node) {
		if n.rank == 0 {
			for i := range rounds {
				n.hear(armed)
				send(n, i)
				// Until the peer has it, since this transport may have
				// accepted more than it has sent.
				n.hear(taken)
			}
			return
		}
		got := n.count()
		for i := range rounds {
			if err := n.d.Arm(w); err != nil {
				n.fail("Arm: %v", err)
			}
			n.pollDry()
			n.say(armed)
			n.sleepUntil(w, what, func() bool { return *got == i+1 })
			n.say(taken)
		}
	})
}

func urgentSleepsThroughPlain(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	got := b.count()
	const tries, nap = 20, 20 * time.Millisecond
	for i := range tries {
		if err := b.d.Arm(fabric.WakeUrgent); err != nil {
			t.Fatalf("Arm: %v", err)
		}
		b.pollDry()
		for range 100 { // let rings of earlier events pass
			if slept(t, b.d, time.Millisecond) {
				break
			}
		}
		a.idle = func() { a.poll() }
		a.send(1, 1, uint64(i), nil, nil)
		a.idle = r.poll
		for range 20 {
			a.poll() // so that a transport that gathers has sent it
		}
		whole := slept(t, b.d, nap)
		b.d.Disarm()
		r.wait("the plain message", func() bool { return *got == i+1 })
		if whole {
			return // Wait may return early, so once is proof
		}
	}
	t.Errorf("with WakeUrgent armed, a plain message has cut Wait short in each of %d tries", tries)
}

// slept says whether Wait took as long as it may.
func slept(t testing.TB, d fabric.Domain, timeout time.Duration) bool {
	start := time.Now()
	if err := d.Wait(timeout); err != nil {
		t.Fatalf("Wait: %v", err)
	}
	return time.Since(start) >= timeout
}

func urgentWakesForFilling(t *testing.T, h Harness) {
	r := open(t, h, 2)
	armed := newSignal()
	const size = 32
	r.together(func(n *node) {
		// Rank 0 sends until rank 1, which sleeps, has told it to stop.
		got := n.count()
		if n.rank == 0 {
			n.hear(armed)
			end := time.Now().Add(patience)
			for *got == 0 {
				if err := n.eps[1].Send(1, 0, nil, content(1, size)); err != nil && err != fabric.ErrAgain {
					n.fail("Send: %v", err)
				}
				n.poll()
				if time.Now().After(end) {
					n.fail("rank 1 was not woken by its full queue")
				}
			}
			return
		}
		if err := n.d.Arm(fabric.WakeUrgent); err != nil {
			n.fail("Arm: %v", err)
		}
		n.pollDry()
		n.say(armed)
		n.sleepUntil(fabric.WakeUrgent, "a filling queue", func() bool { return *got > 0 })
		n.send(0, 1, 0, nil, nil)
	})
}

func pingPongAll(t *testing.T, h Harness)    { pingPong(t, h, fabric.WakeAll, 1) }
func pingPongUrgent(t *testing.T, h Harness) { pingPong(t, h, fabric.WakeUrgent, 1|fabric.Urgent) }

func pingPong(t *testing.T, h Harness, w fabric.Wake, kind uint8) {
	r := open(t, h, 2)
	const rounds = 10000
	r.together(func(n *node) {
		got := n.count()
		other := 1 - n.rank
		for i := range rounds {
			if n.rank == 0 {
				n.send(other, kind, uint64(i), nil, nil)
			}
			n.sleepUntil(w, "the other's message", func() bool { return *got == i+1 })
			if n.rank == 1 {
				n.send(other, kind, uint64(i), nil, nil)
			}
		}
	})
}

func wakesForRoom(t *testing.T, h Harness) {
	if !h.RingsForRoom {
		t.Skip("the harness does not promise it")
	}
	r := open(t, h, 2)
	const rounds = 50
	full, taken := newSignal(), newSignal()
	r.together(func(n *node) {
		got := n.count()
		if n.rank == 1 {
			for range rounds {
				n.hearOnly(full)
				want := *got + 1
				n.wait("a message of a full queue", func() bool { return *got >= want })
				n.say(taken)
			}
			return
		}
		sent := 0
		send := func() bool {
			if err := n.eps[1].Send(1, 0, nil, content(1, 64)); err == nil {
				sent++
				return true
			}
			return false
		}
		for range rounds {
			for n.idle(); send(); {
			}
			n.say(full)
			n.sleepUntil(fabric.WakeUrgent, "room in a full queue", send)
			n.hear(taken)
		}
	})
}

func wakesForSendZ(t *testing.T, h Harness) {
	if !h.RingsForRoom {
		t.Skip("the harness does not promise it")
	}
	r := open(t, h, 2)
	if !r.nodes[0].d.Caps().SendZ {
		t.Skip("not offered; see the case for what Caps does not offer")
	}
	seg := r.nodes[0].region(make([]byte, 64), 0)
	armed := newSignal()
	const rounds = 300
	r.together(func(n *node) {
		got := n.count()
		for i := range rounds {
			if n.rank == 1 {
				n.hear(armed)
				n.wait("a SendZ", func() bool { return *got > i })
				continue
			}
			op := n.start(func(op fabric.Op) error { return n.eps[1].SendZ(1, 0, nil, seg, op) })
			if err := n.d.Arm(fabric.WakeUrgent); err != nil {
				n.fail("Arm: %v", err)
			}
			n.pollDry()
			n.say(armed)
			n.sleepUntil(fabric.WakeUrgent, "a SendZ to complete", func() bool { return !n.pending[op] })
		}
	})
}

func wake(t *testing.T, h Harness) {
	r := openOnly(t, h, 1)
	d := r.nodes[0].d
	d.Wake()
	timed(t, "Wait after Wake", func() error { return d.Wait(0) })
	for range 200 {
		go d.Wake()
		timed(t, "Wait around Wake", func() error { return d.Wait(0) })
	}
}

func waitTimeout(t *testing.T, h Harness) {
	r := openOnly(t, h, 1)
	d := r.nodes[0].d
	if err := d.Arm(fabric.WakeAll); err != nil {
		t.Fatalf("Arm: %v", err)
	}
	for range 10 {
		timed(t, "Wait with a timeout", func() error { return d.Wait(2 * time.Millisecond) })
	}
	for range 100 {
		if slept(t, d, 2*time.Millisecond) {
			return
		}
	}
	t.Error("Wait never slept, though nothing happens")
}

// timed runs a call that must return without error, soon.
func timed(t testing.TB, what string, call func() error) {
	t.Helper()
	if err := within(t, what, call); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// within runs a blocking call and fails the test if it does not return.
func within(t testing.TB, what string, call func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case err := <-done:
		return err
	case <-limit.C:
		t.Fatalf("%s has not returned within %v", what, patience)
		return nil
	}
}

// count counts messages and notes.
func (n *node) count() *int {
	c := new(int)
	n.onDeliver = func(fabric.Peer, uint8, uint64, []byte, []byte) { *c++ }
	n.onNotify = func(fabric.Peer, uint32) { *c++ }
	return c
}

// signal tells another rank's goroutine that something has been reached. It
// holds one, so that saying does not wait for hearing.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

// say polls while the last signal has not been heard.
func (n *node) say(s signal) {
	n.t.Helper()
	n.wait("the other rank's goroutine to listen", func() bool {
		select {
		case s <- struct{}{}:
			return true
		default:
			return false
		}
	})
}

// hear polls until the other rank's goroutine has said something.
func (n *node) hear(s signal) {
	n.t.Helper()
	n.wait("the other rank's goroutine", s.heard)
}

// hearOnly is hear without polling, so that what has come stays where it is.
func (n *node) hearOnly(s signal) {
	n.t.Helper()
	idle := n.idle
	n.idle = runtime.Gosched
	n.wait("the other rank's goroutine", s.heard)
	n.idle = idle
}

func (s signal) heard() bool {
	select {
	case <-s:
		return true
	default:
		return false
	}
}

// sleepUntil sleeps as the engine does until cond holds: arm, look once more,
// wait. A wake-up is lost when only the timeout ends a Wait.
func (n *node) sleepUntil(w fabric.Wake, what string, cond func() bool) {
	n.t.Helper()
	defer n.d.Disarm()
	end := time.Now().Add(patience)
	for {
		if err := n.d.Arm(w); err != nil {
			n.fail("rank %d: Arm: %v", n.rank, err)
		}
		n.pollDry()
		if cond() {
			return
		}
		start := time.Now()
		if err := n.d.Wait(patience); err != nil && !errors.Is(err, fabric.ErrClosed) {
			n.fail("rank %d: Wait: %v", n.rank, err)
		}
		if time.Since(start) >= patience {
			n.pollDry()
			n.fail("rank %d: lost wake-up: slept %v waiting for %s; found by Poll afterwards: %t", n.rank, patience, what, cond())
		}
		if time.Now().After(end) {
			n.fail("rank %d waited %v for: %s", n.rank, patience, what)
		}
	}
}
