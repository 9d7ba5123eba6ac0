package progress

import (
	"math"
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

func (d *lazy) Linger() *bool { return &d.on }

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
	if longest > yieldPasses+spinLinger {
		t.Errorf("%d passes without a yield, want at most %d", longest, yieldPasses)
	}
	if z.off > 0 || z.on {
		t.Errorf("%d of %d polls of a waiter did not linger; afterwards it lingers: %t", z.off, z.polls, z.on)
	}
}

// A domain lingers while a waiter polls, and not a moment longer.
func TestPollersLingerAsLongAsTheyPoll(t *testing.T) {
	var z *lazy
	l := lone(t, func(d fabric.Domain, s *toy) fabric.Domain {
		z = &lazy{Domain: d, s: s}
		return z
	})
	w := newWaiter()
	l.Exclusive(func() {
		l.beginPoll(w)
		if !z.on {
			t.Error("a poller's domain does not linger")
		}
		l.endPoll(w)
		if z.on {
			t.Error("it lingers with nobody there")
		}
	})
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
		l.yieldEvery, l.yielded = yieldPasses, l.passes-yieldPasses-1
		l.paced = time.Now().Add(-c.spent)
		if l.pace(); l.yieldEvery < c.min || l.yieldEvery > c.max {
			t.Errorf("%d passes took %v: %d more until the next yield, want %d to %d", yieldPasses, c.spent, l.yieldEvery, c.min, c.max)
		}
	}
	was := l.yieldEvery
	l.yielded = l.passes
	if l.pace(); l.yieldEvery != was {
		t.Error("a yield for another reason has changed the pace")
	}
}

// Beside a poller that yields seldom, on the one processor, the thread needs no
// timer.
func TestTheThreadLooksAtEachSeldomYield(t *testing.T) {
	l := lone(t, func(d fabric.Domain, s *toy) fabric.Domain { return &lazy{Domain: d, s: s} })
	for _, c := range []struct {
		name       string
		polls      bool // a goroutine polls
		oneProc    bool
		shared     bool // the core, with other ranks
		yieldEvery uint64
		passed     uint64 // passes since the last look
		want       time.Duration
	}{
		{"a poller", true, true, false, yieldPasses, 1, again},
		{"nobody any more", false, true, false, yieldPasses, 1, tick},
		{"a poller that makes no passes", true, true, false, yieldPasses, 0, tick},
		{"a poller on another processor", true, false, false, yieldPasses, 1, tick},
		{"a poller of a fabric that does not linger", true, true, false, math.MaxUint64, 1, tick},
		{"a poller that gives the core away", true, true, true, yieldPasses, 1, tick},
	} {
		l.Exclusive(func() {
			l.oneProc, l.yieldEvery, l.oversubscribed = c.oneProc, c.yieldEvery, c.shared
			if c.polls {
				l.beginPoll(newWaiter())
			}
			l.seen = l.passes
			l.passes += c.passed
			if next := l.tend(); next != c.want {
				t.Errorf("%s: the thread's next look is %d, want %d", c.name, next, c.want)
			}
			if c.polls {
				l.endPoll(l.poller)
			}
		})
	}
}
