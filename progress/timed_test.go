package progress

import (
	"math/bits"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// bound is the greatest value that bucket i counts.
func bound(i int) uint64 {
	if i == 0 {
		return 0
	}
	return 1 << (i - 1)
}

// Each value is in the bucket whose bounds it lies between, the bound itself in the
// lower one.
func TestBucketsEndAtPowersOfTwo(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 3, 4, 5, 8, 9, 1 << 20, 1<<20 + 1, 1<<62 - 1, 1 << 62} {
		i := bucket(n)
		if n > bound(i) || i > 0 && n <= bound(i-1) {
			t.Errorf("%d is in bucket %d, above %d and up to %d", n, i, bound(max(i-1, 0)), bound(i))
		}
	}
	var a, b Histogram
	for n := range uint64(100) {
		if got := a.Add(n); got != a.Buckets[bucket(n)] {
			t.Errorf("Add(%d) is %d", n, got)
		}
		b.Add(n)
	}
	a.Join(&b)
	if a.Count() != 200 || a.Sum != 99*100 || a.Buckets[bits.Len(99)+1] != 2*(99-64) {
		t.Errorf("two histograms of 0 to 99 are %+v", a)
	}
}

// One turn in timedEvery of each slot is timed, and only those without an error count.
func TestSomeRequestsAreTimed(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want uint64
	}{{"with success", nil, 3}, {"with an error", fabric.ErrClosed, 0}} {
		t.Run(c.name, func(t *testing.T) {
			l := &Loop{}
			s := &classedSink{}
			for range 3 * timedEvery {
				r := l.Take(true)
				if !l.Adopt(s, r) {
					t.Fatal("the loop is over")
				}
				l.Finish(r, c.err)
				if r.timed {
					t.Fatal("a completed request is timed still")
				}
				l.collect(r)
			}
			n := uint64(0)
			for i := range l.times {
				if n += l.times[i].Count(); l.times[i].class != "kind 0" || l.times[i].Sum > 60*HistogramSecond*3 {
					t.Errorf("the times are %+v", l.times[i])
				}
			}
			// The first turns of a slot come sooner or later, by its place.
			if n+1 < c.want || n > c.want+1 {
				t.Errorf("%d requests of %d are timed, want %d", n, 3*timedEvery, c.want)
			}
		})
	}
}

type classedSink struct{ Passive }

func (*classedSink) Describe(*Request, bool) Info { return Info{Class: "kind 0"} }

func TestALongTimeIsCounted(t *testing.T) {
	for _, ago := range []time.Duration{0, time.Hour} {
		l := &Loop{}
		r := l.Take(true)
		l.Adopt(&classedSink{}, r)
		r.time()
		r.timed, r.start = true, r.start-int64(ago)
		l.Finish(r, nil)
		if took := float64(l.times[0].Sum) / HistogramSecond; took < ago.Seconds() || took > ago.Seconds()+120 {
			t.Errorf("a request that began %v ago took %v s", ago, took)
		}
	}
}

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
	l := &Loop{over: true}
	over := Stopwatch{l: l}
	over.Start()
	if over.on {
		t.Error("it starts when the loop is over")
	}
}
