package fabric

// Reporter is what a Domain also is that has counts to show. Stats is the owner's
// call; it adds to what s has, and says which transport it is.
type Reporter interface{ Stats(s *Stats) }

// Stats are a domain's counts.
type Stats struct {
	Transport string // as Provider.Name
	Counts    []Count
}

// Count is one number: of what has been, or, a gauge, of what is.
type Count struct {
	Name, Help string // "connected_peers": what it counts, lower case
	Unit       string // "bytes", or empty
	Gauge      bool
	Value      uint64
}

// Add adds a count.
func (s *Stats) Add(c Count) { s.Counts = append(s.Counts, c) }
