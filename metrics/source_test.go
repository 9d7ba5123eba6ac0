package metrics

import (
	"testing"

	"github.com/weft-mpi/weft/progress/counters"
)

func counting(n uint64) counters.Snapshot {
	var s counters.Snapshot
	s.Add(counters.Family{Name: "weft_a_total", Help: "A."}, n)
	return s
}

// A scrape does not wait for an engine that is busy, and asks it once.
func TestABusyEngineIsNotWaitedFor(t *testing.T) {
	asked, replies := make(chan struct{}, 8), make(chan map[int]counters.Snapshot)
	s := source{from: func() map[int]counters.Snapshot {
		asked <- struct{}{}
		return <-replies
	}}
	if all, _ := s.within(0); len(all) != 0 {
		t.Errorf("before the first copy there is %v", all)
	}
	<-asked
	for range 5 {
		s.within(0)
	}
	if len(asked) != 0 {
		t.Error("it was asked again while it had not answered")
	}
	under := s.copy
	replies <- map[int]counters.Snapshot{alone: counting(1)}
	<-under
	go func() { replies <- map[int]counters.Snapshot{alone: counting(2)} }()
	all, age := s.within(scrapePatience * 100)
	last := all[alone]
	if got := last.Value("weft_a_total"); got != 2 || age < 0 {
		t.Errorf("the copy has %d instead of 2, and is %v old", got, age)
	}
}

// Of a world that is no more the last copy stays; one that is not there any more goes.
func TestTheLastCopyStays(t *testing.T) {
	now := map[int]counters.Snapshot{0: counting(1), 1: counting(2)}
	s := source{from: func() map[int]counters.Snapshot { return now }}
	s.take()
	at := s.at
	now = map[int]counters.Snapshot{0: {}, 2: {}}
	all, _ := s.take()
	last := all[0]
	if len(all) != 1 || last.Value("weft_a_total") != 1 {
		t.Errorf("there is %v", all)
	}
	if s.at != at {
		t.Error("the old copy counts as new")
	}
}
