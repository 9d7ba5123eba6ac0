package pt2pt

// bufRing is the layout of the copies of buffered sends in attached memory. It
// is the circular queue that MPI-4.0 §3.6.1 uses as the model of an
// implementation, entry by entry. An entry follows the previous one, or begins
// at the start of the memory if the rest behind that one is too short. Room is
// freed from the oldest entry on. So there is room whenever the model has room.
type bufRing struct {
	size    int // of the memory, in bytes
	tail    int // where the latest entry ends
	entries []bufEntry
	head    int    // index of the oldest entry
	number  uint64 // of the oldest entry
}

// bufEntry is a message and its overhead.
type bufEntry struct {
	off, n int
	over   bool // sent; it waits for older ones
}

func (q *bufRing) empty() bool { return q.head == len(q.entries) }

// find returns where an entry of n bytes would stand.
func (q *bufRing) find(n int) (off int, ok bool) {
	if q.empty() {
		if n <= q.size-q.tail {
			return q.tail, true
		}
		return 0, n <= q.size
	}
	switch first := q.entries[q.head].off; {
	case q.tail <= first: // the queue continues at the start of the memory
		return q.tail, n <= first-q.tail
	case n <= q.size-q.tail:
		return q.tail, true
	default:
		return 0, n <= first
	}
}

// add adds an entry and returns its number, for done.
func (q *bufRing) add(n int) (off int, number uint64, ok bool) {
	if off, ok = q.find(n); !ok {
		return 0, 0, false
	}
	if q.head > 0 && len(q.entries) == cap(q.entries) {
		q.entries = q.entries[:copy(q.entries, q.entries[q.head:])]
		q.head = 0
	}
	number = q.number + uint64(len(q.entries)-q.head)
	q.entries = append(q.entries, bufEntry{off: off, n: n})
	q.tail = off + n
	return off, number, true
}

// done frees an entry, once all older ones are free.
func (q *bufRing) done(number uint64) {
	q.entries[q.head+int(number-q.number)].over = true
	for !q.empty() && q.entries[q.head].over {
		q.head++
		q.number++
	}
	if q.empty() {
		q.entries, q.head = q.entries[:0], 0
	}
}

// room is the length of the longest entry that fits.
func (q *bufRing) room() int {
	if q.empty() {
		return q.size
	}
	if first := q.entries[q.head].off; q.tail <= first {
		return first - q.tail
	} else {
		return max(q.size-q.tail, first)
	}
}
