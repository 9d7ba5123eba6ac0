// Package counters has what a rank counts: histograms, stopwatches, and the snapshot of
// all counters that users and metrics see. Its values belong to the owner of the rank's
// loop, unless they are copies. It imports nothing of Weft.
package counters

import "slices"

// Snapshot is a copy of the counts of a loop, of its sinks and of its transports.
type Snapshot struct{ Families []Family }

// Family is a group of counts that differ in their labels.
type Family struct {
	Name   string // weft_messages_total: of a counter that ends in _total
	Help   string
	Unit   string // "bytes", "seconds", whose values are nanoseconds (in histograms HistogramSecond), or empty
	Gauge  bool   // it goes up and down
	Labels []string
	Rows   []Row
}

// Row is one count of a family. The values of its labels are few and known
// beforehand: no rank, tag or communicator.
type Row struct {
	Values  []string // of the labels
	Value   uint64   // of a histogram the sum
	Buckets *Buckets `json:",omitempty"` // of a histogram
}

// Add adds a count to a family; the first one makes the family.
func (s *Snapshot) Add(f Family, value uint64, labels ...string) {
	s.add(f, Row{Values: labels, Value: value})
}

// AddHistogram adds a histogram to a family of histograms. It copies h; nil is one
// without values.
func (s *Snapshot) AddHistogram(f Family, h *Histogram, labels ...string) {
	if h == nil {
		h = new(Histogram)
	}
	buckets := h.Buckets
	s.add(f, Row{labels, h.Sum, &buckets})
}

func (s *Snapshot) add(f Family, row Row) {
	for i := len(s.Families) - 1; i >= 0; i-- { // the last ones are the likeliest
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
	if r := s.row(name, labels); r != nil {
		return r.Value
	}
	return 0
}

// Count returns how many values a histogram has counted, 0 if there is none of that
// name and those labels.
func (s *Snapshot) Count(name string, labels ...string) uint64 {
	if r := s.row(name, labels); r != nil && r.Buckets != nil {
		return (&Histogram{Buckets: *r.Buckets}).Count()
	}
	return 0
}

func (s *Snapshot) row(name string, labels []string) *Row {
	for _, f := range s.Families {
		if f.Name != name {
			continue
		}
		for i := range f.Rows {
			if slices.Equal(f.Rows[i].Values, labels) {
				return &f.Rows[i]
			}
		}
	}
	return nil
}
