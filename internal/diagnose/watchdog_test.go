package diagnose

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheWatchdogReportsEachOperationOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now := []uint64{1}
		var late []time.Duration
		start := time.Now()
		d := Watch(time.Second, func(each func(uint64)) {
			mu.Lock()
			defer mu.Unlock()
			for _, op := range now {
				each(op)
			}
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			late = append(late, time.Since(start))
		})
		blocked := func(ops ...uint64) { // for ten seconds of the bubble's clock
			mu.Lock()
			now = ops
			mu.Unlock()
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
		blocked(1)
		mu.Lock()
		if len(late) != 1 || late[0] < time.Second || late[0] > 2*time.Second {
			t.Errorf("an operation blocked from the beginning is reported after %v", late)
		}
		mu.Unlock()
		blocked(1, 2, 3) // two more together: one report
		blocked()
		blocked(2) // another operation under a name used before
		d.Stop()
		if len(late) != 3 {
			t.Errorf("there were reports after %v, want 3", late)
		}
		var none *Watchdog
		none.Stop()
		Watch(0, nil, nil).Stop()
	})
}
