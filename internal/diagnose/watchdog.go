package diagnose

import (
	"sync"
	"time"
)

// Watchdog checks now and then how long operations have been blocked. Watch
// makes it, Stop ends it.
type Watchdog struct {
	stop chan struct{}
	done sync.WaitGroup
}

// Watch calls late, on a goroutine of its own, when a goroutine has been blocked
// in one operation for after: once for each operation, and once for all
// operations of one check. It checks four times in after. blocked returns the
// names of the operations that goroutines are blocked in. If after is not positive
// there is nothing to watch. Local.
func Watch(after time.Duration, blocked func(each func(op uint64)), late func()) *Watchdog {
	d := &Watchdog{stop: make(chan struct{})}
	if after > 0 {
		d.done.Go(func() { d.watch(after, blocked, late) })
	}
	return d
}

// Stop ends the watch and waits for a report that is under way. It is called
// once; for nil it does nothing.
func (d *Watchdog) Stop() {
	if d != nil {
		close(d.stop)
		d.done.Wait()
	}
}

func (d *Watchdog) watch(after time.Duration, blocked func(each func(op uint64)), late func()) {
	t := time.NewTicker(max(after/4, time.Millisecond))
	defer t.Stop()
	type sight struct {
		first    time.Time
		reported bool
	}
	seen := map[uint64]sight{}
	for {
		select {
		case <-d.stop:
			return
		case <-t.C:
		}
		now, overdue := time.Now(), false
		next := map[uint64]sight{}
		blocked(func(op uint64) {
			s, known := seen[op]
			if !known {
				s.first = now
			}
			if !s.reported && now.Sub(s.first) >= after {
				s.reported, overdue = true, true
			}
			next[op] = s
		})
		seen = next
		if overdue {
			late()
		}
	}
}
