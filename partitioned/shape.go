package partitioned

// shape is how a message is cut: by its sender into partitions of one size, and
// these into blocks.
type shape struct {
	bytes uint64
	parts int // of the sender
	per   int // partitions of a block; the last block may have fewer
}

// cut chooses blocks of at least least bytes.
func cut(bytes uint64, parts int, least uint64) shape {
	s := shape{bytes, parts, parts}
	if part := bytes / uint64(parts); part > 0 {
		s.per = int(min((max(least, 1)+part-1)/part, uint64(parts)))
	}
	return s
}

func (s shape) blocks() int { return (s.parts + s.per - 1) / s.per }

// partitions returns how many partitions block b has.
func (s shape) partitions(b int) int { return min(s.per, s.parts-b*s.per) }

// span returns where the bytes of blocks begin and end in the message.
func (s shape) span(first, count int) (lo, hi uint64) {
	part := s.bytes / uint64(s.parts)
	return uint64(first*s.per) * part, uint64(min((first+count)*s.per, s.parts)) * part
}

// over returns the blocks, last included, that have the bytes from lo to hi.
func (s shape) over(lo, hi uint64) (first, last int) {
	block := s.bytes / uint64(s.parts) * uint64(s.per)
	if block == 0 || hi == lo {
		return 0, 0
	}
	return int(lo / block), int((hi - 1) / block)
}

// room returns how many bytes block b has.
func (s shape) room(b int) uint64 {
	lo, hi := s.span(b, 1)
	return hi - lo
}

// run is some blocks in a row.
type run struct{ first, count int }

// runs is a queue of them, which keeps its memory.
type runs struct {
	all  []run
	next int
}

func (q *runs) add(x run)   { q.all = append(q.all, x) }
func (q *runs) empty() bool { return q.next == len(q.all) }
func (q *runs) first() run  { return q.all[q.next] }

// pop takes the first one out.
func (q *runs) pop() {
	if q.next++; q.next == len(q.all) {
		q.all, q.next = q.all[:0], 0
	}
}
