package fabric

// Stats are a domain's counts.
type Stats struct {
	Transport string // as Provider.Name
	Counts    []Count
}

// Count is one number: a running total, or, as a gauge, a present value.
type Count struct {
	Name, Help string // "connected_peers": what it counts, lower case
	Unit       string // "bytes", or empty
	Gauge      bool
	Value      uint64
}

// Add adds a count.
func (s *Stats) Add(c Count) { s.Counts = append(s.Counts, c) }

// AddMemory adds the count of the memory of buffers for messages. A buffer that two
// ranks share is the sender's.
func (s *Stats) AddMemory(bytes uint64) {
	s.Add(Count{Name: "memory_bytes", Help: "Memory of buffers for messages: of the rings towards peers (shm, mem), of connections (tcp), of slots (verbs).", Unit: "bytes", Gauge: true, Value: bytes})
}
