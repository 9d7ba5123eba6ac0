package progress

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress/counters"
)

// counts are the loop's own, beside those of its passes. The owner adds to them with plain stores.
type counts struct {
	waited uint64             // packets and requests that found no room
	room   counters.Stopwatch // while there are any
	down   [2]uint64          // peers that have died, that have left
	parks  uint64
	wakes  [fabric.WakeAll + 1]uint64 // of the thread, by the level of the bell

	times   []times // of the requests that were timed, by class
	watches []*counters.Stopwatch
}

// NewStopwatch makes one that ends with the loop. It is called before Go.
func (l *Loop) NewStopwatch() *counters.Stopwatch {
	s := &counters.Stopwatch{}
	l.watches = append(l.watches, s)
	return s
}

// Snapshot copies all counts. For anyone; it waits for the owner's current
// operation.
func (l *Loop) Snapshot() (s counters.Snapshot) {
	l.Exclusive(func() {
		l.observe(&s)
		for _, sink := range l.all {
			sink.Observe(&s)
		}
		for i := range l.times {
			s.AddHistogram(counters.Family{Name: "weft_request_seconds", Help: "How long requests have taken, of one in 256, those without error.",
				Unit: "seconds", Labels: []string{"kind"}}, &l.times[i].Histogram, l.times[i].class)
		}
		l.transports(&s)
	})
	return s
}

// observe adds the loop's own counts.
func (l *Loop) observe(s *counters.Snapshot) {
	polls := counters.Family{Name: "weft_polls_total", Help: "Looks at the transports, by whether there was something to do.", Labels: []string{"found"}}
	s.Add(polls, l.found, "true")
	s.Add(polls, l.passes-l.found, "false")
	s.Add(counters.Family{Name: "weft_parks_total", Help: "Waits that have put their goroutine to sleep."}, l.counts.parks)
	wakes := counters.Family{Name: "weft_wakes_total", Help: "Times the doorbell has woken the progress thread, by what it was armed for: any message, or urgent ones.", Labels: []string{"level"}}
	s.Add(wakes, l.counts.wakes[fabric.WakeAll], "all")
	s.Add(wakes, l.counts.wakes[fabric.WakeUrgent], "urgent")
	s.Add(counters.Family{Name: "weft_backpressure_total", Help: "Packets and operations that had to wait for room towards their peer."}, l.counts.waited)
	s.Add(BackpressureFamily, l.counts.room.Nanoseconds(), "room")
	queued := uint64(0)
	for _, c := range l.backlogged {
		for p := c.head; p != nil; p = p.next {
			queued++
		}
	}
	s.Add(counters.Family{Name: "weft_backlog", Help: "Packets and operations that wait for room now.", Gauge: true}, queued)
	down := counters.Family{Name: "weft_peers_down_total", Help: "Peers that are down, by whether they had left in order.", Labels: []string{"reason"}}
	s.Add(down, l.counts.down[0], "died")
	s.Add(down, l.counts.down[1], "left")
	requests := uint64(0)
	l.requests.each(func(*Request) { requests++ })
	s.Add(counters.Family{Name: "weft_requests", Help: "Requests in flight.", Gauge: true}, requests)
}

// BackpressureFamily is that of the times in which something waits. Sinks add
// their reasons.
var BackpressureFamily = counters.Family{Name: "weft_backpressure_seconds_total", Unit: "seconds", Labels: []string{"reason"},
	Help: "Time in which something waited: for room in a transport (room), for a peer that accepts announcements only (announce) or nothing (hold), as it has too many unexpected messages."}

// transports adds the counts of the transports, after the end those that they had.
func (l *Loop) transports(s *counters.Snapshot) {
	for _, d := range l.doms {
		var st fabric.Stats
		d.Stats(&st)
		for _, c := range st.Counts {
			name := "weft_fabric_" + c.Name
			if !c.Gauge {
				name += "_total"
			}
			s.Add(counters.Family{Name: name, Help: c.Help, Unit: c.Unit, Gauge: c.Gauge, Labels: []string{"transport"}}, c.Value, st.Transport)
		}
	}
}

// TransportOf returns the name of the transport that a peer is reached over, for the
// owner.
func (l *Loop) TransportOf(p fabric.Peer) string {
	var st fabric.Stats
	l.Via(p).Stats(&st)
	return st.Transport
}

// Info is what a sink says of a request, and a condition of the wait for it.
type Info struct {
	Class string // what users call such requests: one of a few values of a label; "" for other
	Name  string // says more, for the timeline; "" for Class
	Firm  bool   // it can be neither cancelled nor given up: see ErrFirm

	Context uint32 // of what the request is for, where there is one
	Message bool   // it is for a message with Tag, and with Peer and Size of the request
	Tag     int32

	Needs  bool // it waits for a call of the rank Caller in Context
	Caller fabric.Peer

	// What the operation is and how far it has come, for reports; only where words are
	// asked for.
	What, State string
	Condition   Watched // of a request of Watch or WaitFor
}

// ErrFirm is returned by Cancel and Release of a request that can only be completed, as
// MPI-4.0 §6.12 has it for collective operations, and MPI-4.1 §4.2.1 for partitioned ones.
var ErrFirm = errors.New("a collective or partitioned operation can be neither cancelled nor given up: complete its request")

// Describe returns what the request's sink says of it. For the owner.
func (r *Request) Describe(words bool) (i Info) {
	if r.sink != nil {
		i = r.sink.Describe(r, words)
	}
	return i
}

// Sink returns the request's sink, for reports. For the owner.
func (r *Request) Sink() Sink { return r.sink }

// Detachments is the number of requests in flight with a callback at completion
// (OnEnd), which may do anything. For the owner.
func (l *Loop) Detachments() int { return l.detachments }

// Blocked calls f with each request that a goroutine waits for. who identifies
// that goroutine, and need is how many of its unfinished requests must still
// complete. For the owner.
func (l *Loop) Blocked(f func(r *Request, who any, need int)) {
	l.requests.each(func(r *Request) {
		if r.Waited() {
			f(r, r.waiter, r.waiter.need)
		}
	})
}

// Waited reports whether a goroutine waits for the request.
func (r *Request) Waited() bool { return r.waiter != nil && r.waiter.detached == nil }
