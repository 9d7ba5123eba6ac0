package progress

import (
	"context"
	"runtime/trace"

	"github.com/weft-mpi/weft/internal/timeline"
)

// traced is a wait that a timeline records, or Go's execution tracer. It belongs to the
// goroutine that waits, but for parked, which is the owner's.
type traced struct {
	rec    *recorder // nil: for Go's tracer only
	span   timeline.Span
	parked int64
	what   string
}

// beginTrace begins to trace a wait: for one request, with its sink, or for several. For
// who owns the loop, or the request. since is when the wait began, 0 for now.
func (l *Loop) beginTrace(w *Waiter, s Sink, hs []Handle, since int64) {
	t := &traced{rec: l.rec}
	if hs != nil {
		t.span, t.what = l.describeAll(hs), "requests"
	} else {
		t.span, t.what = l.describe(w.single, s)
	}
	if t.span.Begin = since; since == 0 {
		t.span.Begin = timeline.Now()
	}
	if log := l.Timeline(); log != nil {
		t.span.Seq = log.NextWait()
		if hs == nil {
			t.span.Name = log.Name(t.what)
		}
	}
	w.traced = t
}

// endTrace records the wait.
func (w *Waiter) endTrace() {
	t := w.traced
	w.traced = nil
	if t.rec != nil {
		t.span.End = timeline.Now()
		t.rec.log.Add(t.span)
	}
}

// slept records that the goroutine has been asleep. For the owner.
func (t *traced) slept() {
	if t.rec != nil {
		t.rec.log.Add(timeline.Span{Kind: timeline.Park, Begin: t.parked, End: timeline.Now(), Seq: t.span.Seq, Peer: -1})
	}
}

// region is a region of Go's execution tracer around a sleep, with a message of what is
// waited for.
func (w *Waiter) region() *trace.Region {
	region := trace.StartRegion(context.Background(), "weft: wait for "+w.traced.what)
	if trace.IsEnabled() && w.traced.span.Peer >= 0 {
		trace.Logf(context.Background(), "weft", "rank %d, tag %d, context %d", w.traced.span.Peer, w.traced.span.Tag, w.traced.span.Context)
	}
	return region
}

// awaitTraced is Await where a timeline is recorded: it records also waits that spin.
func (l *Loop) awaitTraced(r *Request) (Result, error) {
	gen := r.gen
	var span timeline.Span
	name := ""
	if !r.done && r.sink != nil && !r.resting && r.waiter == nil {
		span, name = l.describe(r, r.sink)
		span.Begin = timeline.Now()
		if l.passes-l.yielded <= l.yieldEvery && l.brisk() {
			l.lingering(true)
			for spins := 0; !r.done && spins < l.spins && !l.woke; spins++ {
				if l.pass(1) == 0 && l.oversubscribed && !l.crowded {
					yieldCore()
				}
			}
			l.lingering(false)
		}
	}
	if r.gen != gen || r.resting || r.waiter != nil {
		l.Leave()
		return nothing, ErrStale
	}
	if r.done {
		if name != "" {
			log := l.rec.log
			span.Name, span.Seq, span.End = log.Name(name), log.NextWait(), timeline.Now()
			log.Add(span)
		}
		res, err := l.collect(r)
		l.Leave()
		return res, err
	}
	return l.awaitLong(r, span.Begin)
}
