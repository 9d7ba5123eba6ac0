package verbs

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// eachSleep runs a test for both ways to sleep.
func eachSleep(t *testing.T, test func(t *testing.T, sleep func(*Domain, time.Duration) error)) {
	t.Run("Wait", func(t *testing.T) { test(t, (*Domain).Wait) })
	t.Run("Sleep", func(t *testing.T) { test(t, (*Domain).Sleep) })
}

func TestACompletionRingsForEachArm(t *testing.T) {
	emulated(t)
	eachSleep(t, func(t *testing.T, sleep func(*Domain, time.Duration) error) {
		ds, eps := connected(t, railJob(newFakeNet(), 2, 1))
		ringsForEachArm(t, ds, eps[0], sleep)
	})
}

func TestACompletionOfADeviceRingsForEachArm(t *testing.T) {
	eachSleep(t, func(t *testing.T, sleep func(*Domain, time.Duration) error) {
		ds, eps := pair(t)
		ringsForEachArm(t, ds, eps[0], sleep)
	})
}

// ringsForEachArm sends messages to rank 1, which sleeps before each.
func ringsForEachArm(t *testing.T, ds []*Domain, ep fabric.Endpoint, sleep func(*Domain, time.Duration) error) {
	t.Helper()
	var c counter
	for i := range 20 {
		if err := ds[1].Arm(fabric.WakeAll); err != nil {
			t.Fatal(err)
		}
		for ds[1].Poll(&c, 64) > 0 {
		}
		for ep.Send(1, 0, nil, make([]byte, 100)) == fabric.ErrAgain {
			ds[0].Poll(nobody{}, 64)
		}
		ds[0].Poll(nobody{}, 64)
		for had := c.n; c.n == had; ds[1].Poll(&c, 64) {
			start := time.Now()
			if err := sleep(ds[1], patience); err != nil || time.Since(start) > patience/2 {
				t.Fatalf("message %d does not ring: %v", i+1, err)
			}
		}
	}
}

// Close waits for who sleeps, until nothing of the doorbell is in use.
func TestCloseWaitsForTheSleeper(t *testing.T) {
	eachSleep(t, func(t *testing.T, sleep func(*Domain, time.Duration) error) {
		d, n := alone(t)
		within, goOn := make(chan struct{}), make(chan struct{})
		n.amidDrain = func() {
			close(within)
			<-goOn
		}
		slept, closed := make(chan error, 1), make(chan error, 1)
		n.w.mu.Lock()
		n.ring()
		n.w.mu.Unlock()
		go func() {
			for {
				if err := sleep(d, 0); err != nil {
					slept <- err
					return
				}
			}
		}()
		<-within
		go func() { closed <- d.Close() }()
		eventually(t, "Close begins", d.closed.Load)
		for range 10000 { // Close could go on by now
			runtime.Gosched()
		}
		close(goOn)
		if err := <-slept; !errors.Is(err, fabric.ErrClosed) {
			t.Errorf("who slept is told %v", err)
		}
		if err := <-closed; err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}
