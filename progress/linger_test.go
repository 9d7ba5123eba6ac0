package progress

import (
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// lazy is a domain that lingers. In every third Poll it ends what waits.
type lazy struct {
	fabric.Domain
	s     *toy
	polls int
	on    bool
	off   int // polls that did not linger
}

func (d *lazy) Linger(on bool) { d.on = on }

func (d *lazy) Poll(fabric.Handler, int) int {
	if !d.on {
		d.off++
	}
	if d.polls++; d.polls%3 == 0 && len(d.s.waiting) > 0 {
		d.s.tell()
		return 1
	}
	return 0
}

// A goroutine whose waits are all short lets others run over a domain that
// lingers, and such waits linger.
func TestShortWaitsThatLingerYield(t *testing.T) {
	var z *lazy
	l := lone(t, func(d fabric.Domain, s *toy) fabric.Domain {
		z = &lazy{Domain: d, s: s}
		return z
	})
	longest := uint64(0)
	for range 10 * yieldPasses {
		if !l.Enter() {
			t.Fatal("somebody else owns the loop")
		}
		r := z.s.beginForever()
		before := l.yielded
		if _, err := l.Await(r); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, l.passes-before)
	}
	if longest > yieldPasses+lookLinger {
		t.Errorf("%d passes without a turn of the scheduler, want at most %d", longest, yieldPasses)
	}
	if z.off > 0 || z.on {
		t.Errorf("%d of %d polls of a waiter did not linger; afterwards it lingers: %t", z.off, z.polls, z.on)
	}
}

// The slower the passes, the fewer go between two yields.
func TestYieldsArePacedByTime(t *testing.T) {
	l := lone(t, func(d fabric.Domain, s *toy) fabric.Domain { return &lazy{Domain: d, s: s} })
	for _, c := range []struct {
		spent    time.Duration
		min, max uint64
	}{
		{-time.Hour, yieldPasses, yieldPasses}, // a clock that has not moved
		{10 * yieldAfter, yieldPasses / 32, yieldPasses / 9},
		{time.Hour, yieldPasses / 32, yieldPasses / 32},
	} {
		l.turns, l.yielded = yieldPasses, l.passes-yieldPasses-1
		l.paced = time.Now().Add(-c.spent)
		if l.pace(); l.turns < c.min || l.turns > c.max {
			t.Errorf("%d passes took %v: %d more until the next yield, want %d to %d", yieldPasses, c.spent, l.turns, c.min, c.max)
		}
	}
	was := l.turns
	l.yielded = l.passes
	if l.pace(); l.turns != was {
		t.Error("a yield for another reason has changed the pace")
	}
}
