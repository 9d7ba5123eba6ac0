package counters

import "testing"

func TestAStopwatchCountsStretches(t *testing.T) {
	var s Stopwatch
	s.Stop()
	if s.Nanoseconds() != 0 {
		t.Error("one that was not started has counted")
	}
	pass := func() {
		for begun := monotonic(); monotonic() == begun; {
		}
	}
	s.Set(true)
	begun := s.since
	pass()
	if s.Start(); s.since != begun {
		t.Errorf("the stretch that goes on begins anew, %v later", s.since-begun)
	}
	during := s.Nanoseconds()
	s.Set(false)
	after := s.Nanoseconds()
	pass()
	if during == 0 || after < during || s.Nanoseconds() != after {
		t.Errorf("%d ns during, %d after it, %d later", during, after, s.Nanoseconds())
	}
	const earlier = 1 << 40
	s.total += earlier
	s.Start()
	pass()
	if s.Stop(); s.Nanoseconds() <= after+earlier {
		t.Errorf("%d ns before another stretch, %d after it", after+earlier, s.Nanoseconds())
	}
	s.Start()
	s.End()
	if s.Start(); s.on {
		t.Error("it is on after its end")
	}
}
