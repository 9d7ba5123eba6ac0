package fabrictest

import (
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

// sleepThenSend lets rank 1 arm and look once more before rank 0 does what
// must wake it.
func sleepThenSend(t *testing.T, h Harness, rounds int, w fabric.Wake, what string, send func(n *node, i int)) {
	t.Helper()
	r := open(t, h, 2)
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
	if h.WakesForAll {
		t.Skip("the harness says that any message wakes")
	}
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
