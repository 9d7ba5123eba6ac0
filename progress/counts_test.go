package progress

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress/counters"
)

// counting is a domain that finds what it is told to, and has counts.
type counting struct {
	fabric.Domain
	finds []int // of the next looks
	sends uint64
}

func (d *counting) Poll(fabric.Handler, int) (n int) {
	if len(d.finds) > 0 {
		n, d.finds = d.finds[0], d.finds[1:]
	}
	return n
}

func (d *counting) Stats(s *fabric.Stats) {
	*s = fabric.Stats{Transport: "toy", Counts: append(s.Counts, fabric.Count{Name: "sends", Value: d.sends}, fabric.Count{Name: "bytes", Gauge: true, Value: 7})}
}

func (d *counting) Disarm() {}

// narrow takes messages while it has room.
type narrow struct {
	fabric.Endpoint
	room int
}

func (e *narrow) Send(uint8, uint64, []byte, []byte) error {
	if e.room == 0 {
		return fabric.ErrAgain
	}
	e.room--
	return nil
}

// The loop's own counts are those of what it has done.
func TestTheLoopsCounts(t *testing.T) {
	d := &counting{finds: []int{0, 2, 0, 1, 0}, sends: 3}
	ends := []*narrow{{}, {}, {}}
	l := &Loop{conns: make([]Conn, len(ends)), peers: peers{doms: []fabric.Domain{d}}, dom: d, log: slog.New(slog.DiscardHandler)}
	l.watching.l = l
	l.watches = append(l.watches, &l.counts.room)
	for i := range l.conns {
		l.conns[i] = Conn{loop: l, Peer: fabric.Peer(i), ep: ends[i]}
	}
	now := func() (s counters.Snapshot) {
		l.observe(&s)
		l.transports(&s)
		return s
	}
	check := func(when string, want map[string]uint64) {
		t.Helper()
		s := now()
		for _, f := range s.Families {
			for _, r := range f.Rows {
				name := f.Name
				for _, v := range r.Values {
					name += " " + v
				}
				if n, there := want[name]; there && r.Value != n {
					t.Errorf("%s: %s is %d instead of %d", when, name, r.Value, n)
				}
				delete(want, name)
			}
		}
		for name := range want {
			t.Errorf("%s: %s is missing", when, name)
		}
	}
	for range 5 {
		l.pass(1)
	}
	check("after five looks", map[string]uint64{"weft_polls_total true": 2, "weft_polls_total false": 3, "weft_backlog": 0, "weft_backpressure_total": 0,
		"weft_fabric_sends_total toy": 3, "weft_fabric_bytes toy": 7})

	for _, peer := range []int{0, 0, 0, 1} {
		p := l.packet()
		p.kind = 1
		l.conns[peer].enqueue(p)
	}
	check("without room", map[string]uint64{"weft_backlog": 4, "weft_backpressure_total": 4})
	room := func() uint64 { s := now(); return s.Value("weft_backpressure_seconds_total", "room") }
	for begun := room(); room() == begun; {
	}
	ends[0].room, ends[1].room = 10, 10
	for len(l.backlogged) > 0 {
		l.flush()
	}
	check("with room", map[string]uint64{"weft_backlog": 0, "weft_backpressure_total": 4})
	stands := func(when string) {
		t.Helper()
		was := room()
		for begun := time.Now(); time.Since(begun) == 0; {
		}
		if room() != was {
			t.Errorf("%s the time goes from %d to %d ns", when, was, room())
		}
	}
	stands("nothing waits, and")

	l.conns[1].leaving = true
	l.PeerDown(0, errors.New("reset"))
	l.PeerDown(0, errors.New("reset"))
	l.PeerDown(1, errors.New("closed"))
	check("without peers", map[string]uint64{"weft_peers_down_total died": 1, "weft_peers_down_total left": 1})

	if doms := l.seal(); !slices.Equal(doms, []fabric.Domain{d}) {
		t.Fatalf("%v were taken away", doms)
	}
	d.sends = 0
	check("after the end", map[string]uint64{"weft_fabric_sends_total toy": 3, "weft_fabric_bytes toy": 7, "weft_polls_total true": 2})
	l.counts.room.Start()
	stands("after the end")
}
