package progress

import (
	"cmp"
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/timeline"
)

// recorder puts what takes time at a rank into a timeline. A loop without one has a nil
// recorder, and the ways of messages and waits check for that in one place each, or not
// at all: every request is timed then (timed.go), and what is done for timed requests
// records. The methods are the owner's, unless they say otherwise.
type recorder struct {
	log *timeline.Log
	// began has when each request began, by index. It grows as requests do, under their
	// lock, and a time is stored by who takes the request and loaded by the owner: what
	// orders these is what orders the request's other fields.
	began atomic.Pointer[[]*[chunkSize]int64]

	sweep   timeline.Span // of the sweep under way; its Begin also behind one that ends in a wait
	look    int64         // since when the thread looks
	foundBy uint64        // Loop.found then
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

// more is called under the lock of requests when there is another chunk of them.
func (t *recorder) more() {
	var chunks []*[chunkSize]int64
	if p := t.began.Load(); p != nil {
		chunks = *p
	}
	chunks = append(chunks[:len(chunks):len(chunks)], new([chunkSize]int64))
	t.began.Store(&chunks) // pairs with the loads of at
}

// at is where it is kept when the request began.
func (t *recorder) at(r *Request) *int64 { return &(*t.began.Load())[r.id/chunkSize][r.id%chunkSize] }

// begin is for who has taken the request.
func (t *recorder) begin(r *Request) { *t.at(r) = timeline.Now() }

// ended records a request that completes.
func (t *recorder) ended(r *Request) {
	if r.sink == nil || r.sink.Record(r, *t.at(r), r.err != nil) {
		return
	}
	i := r.Describe(false)
	if name := cmp.Or(i.Name, i.Class); name != "" {
		t.log.Add(timeline.Span{Kind: timeline.Op, Begin: *t.at(r), End: timeline.Now(), Name: t.log.Name(name),
			Peer: max(r.Peer, -1), Bytes: r.Size(), Failed: r.err != nil})
	}
}

// describe says what a wait for a request is for. s is the request's sink, which the
// request has itself only once it has begun. For the goroutine that it belongs to.
func (l *Loop) describe(r *Request, s Sink) (span timeline.Span, name string) {
	i := s.Describe(r, false)
	span.Kind, span.Peer, span.Tag, span.Context = timeline.Wait, -1, -1, i.Context
	if i.Message {
		span.Peer, span.Tag, span.Bytes = max(r.Peer, -1), max(i.Tag, -1), r.Size()
	}
	return span, cmp.Or(i.Name, i.Class, "a request")
}

// sweeps begins the span of a wait for several requests that may end without a Waiter.
func (t *recorder) sweeps(hs []Handle) {
	for _, h := range hs {
		if h.r != nil {
			t.sweep = h.r.loop.describeAll(hs)
			break
		}
	}
	t.sweep.Begin = timeline.Now()
}

// since is when the wait that gets a Waiter now began to sweep, or 0.
func (t *recorder) since() (begin int64) {
	if t != nil {
		begin, t.sweep.Begin = t.sweep.Begin, 0
	}
	return begin
}

// swept ends it.
func (t *recorder) swept(waited bool) {
	if waited && t.sweep.Count > 0 {
		t.sweep.Seq, t.sweep.End = t.log.NextWait(), timeline.Now()
		t.log.Add(t.sweep)
	}
	t.sweep.Begin = 0
}

// describeAll says what a wait for several requests is for: the first that is open says
// the communicator, and a single one everything. For the owner.
func (l *Loop) describeAll(hs []Handle) (span timeline.Span) {
	span.Kind, span.Peer, span.Tag = timeline.Wait, -1, -1
	open, name := uint32(0), "requests"
	for _, h := range hs {
		r := h.r
		if r == nil || r.gen != h.gen || r.done || r.resting || r.sink == nil {
			continue
		}
		if open++; open == 1 {
			span, name = l.describe(r, r.sink)
		}
	}
	if open > 1 {
		span.Peer, span.Tag, span.Bytes, name = -1, -1, 0, "requests"
	}
	span.Count = open
	if l.rec != nil {
		span.Name = l.rec.log.Name(name)
	}
	return span
}

// looks begins a look of the thread, and looked ends it. One that finds nothing is not
// recorded.
func (t *recorder) looks(found uint64) { t.look, t.foundBy = timeline.Now(), found }

func (t *recorder) looked(found uint64) {
	if found != t.foundBy {
		t.log.Add(timeline.Span{Kind: timeline.Look, Begin: t.look, End: timeline.Now(), Peer: -1, Count: uint32(found - t.foundBy)})
	}
}
