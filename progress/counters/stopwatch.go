package counters

import "time"

var origin = time.Now()

// monotonic is the time since some point. It costs half of what time.Now costs.
func monotonic() time.Duration { return time.Since(origin) }

// Stopwatch adds up how long something was so, until End.
type Stopwatch struct {
	total, since time.Duration
	on, ended    bool
}

// Start begins a stretch, unless one is under way.
func (s *Stopwatch) Start() {
	if !s.on && !s.ended {
		s.on, s.since = true, monotonic()
	}
}

// Stop ends it.
func (s *Stopwatch) Stop() {
	if s.on {
		s.on = false
		s.total += monotonic() - s.since
	}
}

// End is Stop, and no stretch begins any more.
func (s *Stopwatch) End() {
	s.Stop()
	s.ended = true
}

// Set is Start or Stop.
func (s *Stopwatch) Set(on bool) {
	if on {
		s.Start()
	} else {
		s.Stop()
	}
}

// Nanoseconds are those of all stretches, that under way included.
func (s *Stopwatch) Nanoseconds() uint64 {
	total := s.total
	if s.on {
		total += monotonic() - s.since
	}
	return uint64(total)
}
