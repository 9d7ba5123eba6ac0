package progress

import (
	"cmp"
	"context"
	"runtime/trace"

	"github.com/weft-mpi/weft/internal/timeline"
)

// recorder puts what takes time at a rank into a timeline. A loop without one has a nil
// recorder, and the ways of messages and waits check for that in one place each, or not
// at all: every request is timed then (timed.go), and what is done for timed requests
// records; and no wait spins without a Waiter, which has its span. The methods are the
// owner's, unless they say otherwise.
type recorder struct {
	log     *timeline.Log
	look    int64  // since when the thread looks
	foundBy uint64 // Loop.found then
}

// record begins to record.
func (l *Loop) record(log *timeline.Log) {
	if log != nil {
		l.rec = &recorder{log: log}
		l.requests.always = timedEvery - 1
	}
}

// Timeline is where the loop records what takes time, or nil. For anyone.
func (l *Loop) Timeline() *timeline.Log {
	if l.rec == nil {
		return nil
	}
	return l.rec.log
}

// ended records a request that completes.
func (t *recorder) ended(r *Request) {
	if r.sink == nil || r.sink.Record(r, r.start, r.err != nil) {
		return
	}
	i := r.Describe(false)
	if name := cmp.Or(i.Name, i.Class); name != "" {
		t.log.Add(timeline.Span{Kind: timeline.Op, Begin: r.start, End: timeline.Now(), Name: t.log.Name(name),
			Peer: max(r.Peer, -1), Bytes: r.Size(), Failed: r.err != nil})
	}
}

// traced is a wait that a timeline records, or Go's execution tracer. It belongs to the
// goroutine that waits, but for parked, which is the owner's.
type traced struct {
	log    *timeline.Log // nil: for Go's tracer only
	span   timeline.Span
	parked int64
	what   string
}

// trace traces a wait, where anything does: for one request, with its sink, which it has
// itself only once it has begun, or for several. For the owner, or who has the request.
func (l *Loop) trace(w *Waiter, s Sink) {
	if l.rec != nil || trace.IsEnabled() {
		l.beginTrace(w, s)
	}
}

func (l *Loop) beginTrace(w *Waiter, s Sink) {
	r := w.single
	if r == nil {
		r, s = w.reqs[0], w.reqs[0].sink // the first says the communicator, and a single one everything
	}
	var i Info
	if s != nil {
		i = s.Describe(r, false)
	}
	t := &w.trace
	w.traced, *t = true, traced{log: l.Timeline(), what: cmp.Or(i.Name, i.Class, "a request")}
	t.span = timeline.Span{Kind: timeline.Wait, Begin: timeline.Now(), Peer: -1, Tag: -1, Context: i.Context, Count: uint32(len(w.reqs))}
	if len(w.reqs) > 1 {
		t.what = "requests"
	} else if i.Message {
		t.span.Peer, t.span.Tag, t.span.Bytes = max(r.Peer, -1), max(i.Tag, -1), r.Size()
	}
	if t.log != nil {
		t.span.Seq, t.span.Name = t.log.NextWait(), t.log.Name(t.what)
	}
}

// end records the wait.
func (t *traced) end() {
	t.span.End = timeline.Now()
	t.log.Add(t.span)
}

// slept records that the goroutine has been asleep. For the owner.
func (t *traced) slept() {
	t.log.Add(timeline.Span{Kind: timeline.Park, Begin: t.parked, End: timeline.Now(), Seq: t.span.Seq, Peer: -1})
}

// region is a region of Go's execution tracer around a sleep, with a message of what is
// waited for.
func (t *traced) region() *trace.Region {
	region := trace.StartRegion(context.Background(), "weft: wait for "+t.what)
	if trace.IsEnabled() && t.span.Peer >= 0 {
		trace.Logf(context.Background(), "weft", "rank %d, tag %d, context %d", t.span.Peer, t.span.Tag, t.span.Context)
	}
	return region
}

// looks begins a look of the thread, and looked ends it. One that finds nothing is not
// recorded.
func (t *recorder) looks(found uint64) { t.look, t.foundBy = timeline.Now(), found }

func (t *recorder) looked(found uint64) {
	if found != t.foundBy {
		t.log.Add(timeline.Span{Kind: timeline.Look, Begin: t.look, End: timeline.Now(), Peer: -1, Count: uint32(found - t.foundBy)})
	}
}
