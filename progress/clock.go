package progress

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// clock tells when requests began, in whole seconds: exact enough to say which
// of them hang, and one load where the time of day would be a call.
var clock coarseClock

// coarseClock moves on as long as a loop uses it.
type coarseClock struct {
	seconds atomic.Uint32

	mu    sync.Mutex
	each  map[int]func() // called once a second, see EverySecond
	last  int            // of each
	users int
	stop  chan struct{}
}

func (c *coarseClock) now() uint32 { return c.seconds.Load() }

// use starts the clock for one more loop.
func (c *coarseClock) use() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users++; c.users == 1 {
		c.stop = make(chan struct{})
		go c.run(c.stop)
	}
}

// drop ends a use.
func (c *coarseClock) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users == 0 {
		close(c.stop)
	}
}

func (c *coarseClock) run(stop chan struct{}) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			c.seconds.Add(1)
			c.tell()
		}
	}
}

// tell calls what is to be called once a second.
func (c *coarseClock) tell() {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.each))
	c.mu.Unlock()
	for _, f := range all {
		f()
	}
}

// EverySecond has f called about once a second, until stop is called, or once more at
// the same time, as long as there is a loop. f may not wait for long. Local.
func EverySecond(f func()) (stop func()) {
	clock.mu.Lock()
	defer clock.mu.Unlock()
	if clock.each == nil {
		clock.each = map[int]func(){}
	}
	clock.last++
	n := clock.last
	clock.each[n] = f
	return func() {
		clock.mu.Lock()
		defer clock.mu.Unlock()
		delete(clock.each, n)
	}
}

// Now is the time in whole seconds that requests begin at.
func Now() uint32 { return clock.now() }

// Since is how long ago t of Now was, to a second.
func Since(t uint32) time.Duration { return time.Duration(clock.now()-t) * time.Second }

// Waited reports whether a goroutine waits for the request.
func (r *Request) Waited() bool { return r.waiter != nil && r.waiter.detached == nil }
