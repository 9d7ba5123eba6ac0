package progress

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-mpi/weft/internal/timeline"
	"github.com/weft-mpi/weft/progress/counters"
)

// How long requests take, from their start to their completion, is measured for
// one turn in timedEvery of each slot. The clock costs as much as a short message;
// nothing else of a message is measured in time. Operations that complete in their
// own call have no request and take no time.

// timedEvery is a power of two.
const timedEvery = 256

// times are the durations of the requests of one class (Info), see counters.HistogramSecond.
type times struct {
	class string
	counters.Histogram
}

// timedTurn reports whether the turn of a persistent request is timed. Those of
// others are timed if their generation is a multiple of timedEvery (turnOver). While a
// timeline is recorded all are.
func timedTurn(r *Request) bool { return r.turn()&(timedEvery-1)&^r.loop.requests.always == 0 }

// time begins the measurement. It is seldom called: the callers stay short.
//
//go:noinline
func (r *Request) time() { r.start = timeline.Now() }

// Time measures how long a request takes that has just been taken, whatever its turn.
func (r *Request) Time() {
	r.timed = true
	r.time()
}

// timed ends it.
//
//go:noinline
func (l *Loop) timed(r *Request) {
	r.timed = false
	if l.rec != nil {
		l.rec.ended(r)
		if r.turn()%timedEvery != 0 {
			return
		}
	}
	if r.err != nil || r.sink == nil {
		return
	}
	class := cmp.Or(r.Describe(false).Class, "other")
	took := uint64(time.Duration(timeline.Now()-r.start).Seconds() * counters.HistogramSecond)
	i := slices.IndexFunc(l.times, func(t times) bool { return t.class == class })
	if i < 0 {
		i, l.times = len(l.times), append(l.times, times{class: class})
	}
	l.times[i].Add(took)
}
