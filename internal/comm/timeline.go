package comm

import (
	"context"
	"runtime/trace"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/timeline"
)

// traceCall begins a blocking collective call in the timeline, unless log is nil, and as a
// region of Go's execution tracer, and returns what ends it. algorithm names what the call
// has taken, at its end.
func (c *Comm) traceCall(log *timeline.Log, call coll.Call, algorithm func() string) (end func()) {
	region := trace.StartRegion(context.Background(), "weft: "+call.String())
	begin := timeline.Now()
	return func() {
		if log != nil {
			log.Add(timeline.Span{Kind: timeline.Call, Begin: begin, End: timeline.Now(), Peer: -1, Context: c.Library(),
				Count: c.seq.Load(), Name: log.Name(call.String()), Path: log.Name(algorithm())})
		}
		region.End()
	}
}

// traceBarrier is traceCall for a Barrier, whose way may be chosen in it.
func (c *Comm) traceBarrier(log *timeline.Log, last bool) (end func()) {
	call := coll.Barrier
	if last {
		call = coll.Finalize
	}
	return c.traceCall(log, call, func() string {
		if !last && c.barrier.way == byFlags {
			return "flags"
		}
		return "messages"
	})
}
