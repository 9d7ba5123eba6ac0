package progress

import (
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress/counters"
)

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
				if n += l.times[i].Count(); l.times[i].class != "kind 0" || l.times[i].Sum > 60*counters.HistogramSecond*3 {
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
		if took := float64(l.times[0].Sum) / counters.HistogramSecond; took < ago.Seconds() || took > ago.Seconds()+120 {
			t.Errorf("a request that began %v ago took %v s", ago, took)
		}
	}
}
