package progress

import (
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
		}
	}
}

// Age is how long ago the request began, to a second.
func (r *Request) Age() time.Duration {
	return time.Duration(clock.now()-r.Began) * time.Second
}
