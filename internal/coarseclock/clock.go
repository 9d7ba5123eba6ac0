// Package coarseclock tells when requests began, in whole seconds: exact enough to say
// which of them hang, and one load where the time of day would be a call. It imports
// nothing of Weft, and is safe for concurrent use.
package coarseclock

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// seconds moves on as long as a loop uses the clock.
var seconds atomic.Uint32

var (
	mu    sync.Mutex
	each  = map[int]func(){} // called once a second, see EverySecond
	last  int                // of each
	users int
	idle  chan struct{} // closed when the last use ends
)

// Now is the time in whole seconds.
func Now() uint32 { return seconds.Load() }

// Since is how long ago t of Now was, to a second.
func Since(t uint32) time.Duration { return time.Duration(Now()-t) * time.Second }

// Use starts the clock for one more loop.
func Use() {
	mu.Lock()
	defer mu.Unlock()
	if users++; users == 1 {
		idle = make(chan struct{})
		go run(idle)
	}
}

// Drop ends a use.
func Drop() {
	mu.Lock()
	defer mu.Unlock()
	if users--; users == 0 {
		close(idle)
	}
}

func run(idle chan struct{}) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-idle:
			return
		case <-t.C:
			seconds.Add(1)
			tell()
		}
	}
}

// tell calls what is to be called once a second.
func tell() {
	mu.Lock()
	all := slices.Collect(maps.Values(each))
	mu.Unlock()
	for _, f := range all {
		f()
	}
}

// EverySecond has f called about once a second, until stop is called, or once more at
// the same time, as long as there is a loop. f may not wait for long. Local.
func EverySecond(f func()) (stop func()) {
	mu.Lock()
	defer mu.Unlock()
	last++
	n := last
	each[n] = f
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(each, n)
	}
}
