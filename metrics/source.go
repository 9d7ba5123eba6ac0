package metrics

import (
	"sync"
	"time"

	"github.com/weft-mpi/weft/progress/counters"
)

// source keeps the last snapshots of ranks. from may block as long as an engine is
// busy, and returns empty snapshots for worlds that have not begun, or are no more.
type source struct {
	from func() map[int]counters.Snapshot

	mu   sync.Mutex
	last map[int]counters.Snapshot
	at   time.Time     // when it was copied
	copy chan struct{} // closed when the copy under way is there; nil if there is none
}

// scrapePatience is how long a scrape waits for a copy. Prometheus gives up after ten
// seconds, unless it is told otherwise.
const scrapePatience = 3 * time.Second

// take returns the snapshots of all ranks, and how old they are.
func (s *source) take() (map[int]counters.Snapshot, time.Duration) { return s.within(scrapePatience) }

func (s *source) within(patience time.Duration) (map[int]counters.Snapshot, time.Duration) {
	s.mu.Lock()
	if s.copy == nil { // one at a time, however many scrapes wait
		s.copy = make(chan struct{})
		go s.renew(s.copy)
	}
	done := s.copy
	s.mu.Unlock()
	select {
	case <-done:
	case <-time.After(patience):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return nil, 0
	}
	return s.last, time.Since(s.at)
}

// renew copies the counters. A rank without any keeps those that it had.
func (s *source) renew(done chan struct{}) {
	now := s.from()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(done)
	s.copy = nil
	fresh := false
	all := make(map[int]counters.Snapshot, len(now))
	for rank, snap := range now {
		if len(snap.Families) == 0 {
			if snap = s.last[rank]; len(snap.Families) == 0 {
				continue
			}
		} else {
			fresh = true
		}
		all[rank] = snap
	}
	s.last = all
	if fresh || s.at.IsZero() {
		s.at = time.Now()
	}
}
