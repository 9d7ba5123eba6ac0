package progress

import "github.com/weft-mpi/weft/fabric"

// Snapshot is a copy of the counts of a loop, of its sinks and of its transports.
type Snapshot struct{ Families []Family }

// Family is a group of counts that differ in their labels.
type Family struct {
	Name   string // weft_messages_total: of a counter that ends in _total
	Help   string
	Unit   string // "bytes", or empty
	Gauge  bool   // it goes up and down
	Labels []string
	Rows   []Row
}

// Row is one count of a family. The values of its labels are few and known
// beforehand: no rank, tag or communicator.
type Row struct {
	Values []string // of the labels
	Value  uint64
}

// Add adds a count to a family; the first one makes the family.
func (s *Snapshot) Add(f Family, value uint64, labels ...string) {
	row := Row{labels, value}
	for i := range s.Families {
		if s.Families[i].Name == f.Name {
			s.Families[i].Rows = append(s.Families[i].Rows, row)
			return
		}
	}
	f.Rows = []Row{row}
	s.Families = append(s.Families, f)
}

// Value returns a count, or 0 if there is none of that name and those labels.
func (s *Snapshot) Value(name string, labels ...string) uint64 {
	for _, f := range s.Families {
		for _, r := range f.Rows {
			if f.Name == name && equal(r.Values, labels) {
				return r.Value
			}
		}
	}
	return 0
}

func equal(a, b []string) bool {
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// Observed is a Sink with counts: Observe adds them, as the owner.
type Observed interface{ Observe(*Snapshot) }

// counts are the loop's own, beside those of its passes. The owner adds to them with plain stores.
type counts struct {
	waited uint64    // packets and requests that found no room
	down   [2]uint64 // peers that have died, that have left
}

// Snapshot copies all counts. For anyone; it waits for the owner's current
// operation.
func (l *Loop) Snapshot() (s Snapshot) {
	l.Exclusive(func() {
		polls := Family{Name: "weft_polls_total", Help: "Looks at the transports, by whether there was something to do.", Labels: []string{"found"}}
		s.Add(polls, l.found, "true")
		s.Add(polls, l.passes-l.found, "false")
		s.Add(Family{Name: "weft_backpressure_total", Help: "Packets and operations that had to wait for room towards their peer."}, l.counts.waited)
		queued := uint64(0)
		for _, c := range l.backlogged {
			for p := c.head; p != nil; p = p.next {
				queued++
			}
		}
		s.Add(Family{Name: "weft_backlog", Help: "Packets and operations that wait for room now.", Gauge: true}, queued)
		down := Family{Name: "weft_peers_down_total", Help: "Peers that are down, by whether they had left in order.", Labels: []string{"reason"}}
		s.Add(down, l.counts.down[0], "died")
		s.Add(down, l.counts.down[1], "left")
		requests := uint64(0)
		l.requests.each(func(*Request) { requests++ })
		s.Add(Family{Name: "weft_requests", Help: "Requests in flight.", Gauge: true}, requests)
		for _, sink := range l.all {
			if o, ok := sink.(Observed); ok {
				o.Observe(&s)
			}
		}
		l.transports(&s)
	})
	return s
}

// transports adds the counts of the transports.
func (l *Loop) transports(s *Snapshot) {
	for _, d := range append([]fabric.Domain{l.dom}, l.more...) {
		r, ok := d.(fabric.Reporter)
		if !ok {
			continue
		}
		var st fabric.Stats
		r.Stats(&st)
		for _, c := range st.Counts {
			name := "weft_fabric_" + c.Name
			if !c.Gauge {
				name += "_total"
			}
			s.Add(Family{Name: name, Help: c.Help, Unit: c.Unit, Gauge: c.Gauge, Labels: []string{"transport"}}, c.Value, st.Transport)
		}
	}
}

// TransportOf returns the name of the transport that a peer is reached over, or
// "unknown" if it has no counts. For the owner.
func (l *Loop) TransportOf(p fabric.Peer) string {
	var st fabric.Stats
	if r, ok := l.conns[p].dom.(fabric.Reporter); ok {
		r.Stats(&st)
	}
	if st.Transport == "" {
		return "unknown"
	}
	return st.Transport
}
