package match

// Entry names a queued receive or message of one queue of one [Table]. It
// becomes stale when the entry leaves the queue; a stale Entry is recognised,
// not mistaken for the slot's next user. The zero Entry names nothing.
type Entry uint64

// entry is one posted receive or unexpected message. Two of them fill a cache
// line; next and prev are here and not beside the slab so that taking an entry
// from the far end of a deep queue misses the cache once.
type entry struct {
	ctx      uint32
	src, tag int32
	id       uint32
	seq      uint64 // order of posting or arrival, from 1; 0 marks a free slot
	link            // the list of entries with the same key, or the free list
}

// link makes a list of slab indices. A list is known by its head: head.prev is
// the tail and tail.next is 0, so that both ends are reached from the one index
// that a hash slot holds.
type link struct{ next, prev uint32 }

// minSlab keeps small tables from growing in steps too small to be useful.
const minSlab = 64

// slab owns the entries of one queue. Index 0 is never handed out: it ends
// lists.
type slab struct {
	e    []entry
	free uint32 // most recently freed first: its line is the likeliest in cache
	live int
	seq  uint64
}

// take hands out a free slot, which the caller is to fill.
func (s *slab) take() (i uint32) {
	if s.free == 0 {
		s.grow()
	}
	i = s.free
	s.free = s.e[i].next
	return
}

// fill makes slot i the latest entry and a list of one. It assigns field by
// field: a literal is assembled on the stack and copied in wide moves, which
// have to wait for its narrow stores.
func (s *slab) fill(i, ctx uint32, src, tag int32, id uint32) {
	s.seq++
	s.live++
	e := &s.e[i]
	e.ctx, e.src, e.tag, e.id, e.seq = ctx, src, tag, id, s.seq
	e.next, e.prev = 0, i
}

// release gives slot i back. It must have left every list.
func (s *slab) release(i uint32) {
	e := &s.e[i]
	e.seq = 0
	e.next = s.free
	s.free = i
	s.live--
}

//go:noinline
func (s *slab) grow() {
	n := len(s.e)
	e := make([]entry, max(minSlab, 2*n))
	copy(e, s.e)
	first := max(1, n)
	for i := first; i < len(e)-1; i++ {
		e[i].next = uint32(i + 1)
	}
	s.e, s.free = e, uint32(first)
}

// name makes the Entry of slot i. The low half of the sequence serves as the
// generation: a stale Entry could be mistaken only for an entry added exactly a
// multiple of 2³² additions later into the same slot.
func name(i uint32, seq uint64) Entry { return Entry(i)<<32 | Entry(uint32(seq)) }

// lookup returns the slot that n names, or 0 if n is stale or the zero Entry.
func (s *slab) lookup(n Entry) uint32 {
	i := uint32(n >> 32)
	if uint64(i) >= uint64(len(s.e)) || s.e[i].seq == 0 || uint32(s.e[i].seq) != uint32(n) {
		return 0
	}
	return i
}

// each calls f for the live slots until f returns false. It reads the slab
// afresh every time because f may remove entries, or add some.
func (s *slab) each(f func(n Entry, ctx uint32, src, tag int32, id uint32) bool) {
	if s.live == 0 {
		return
	}
	for i := 1; i < len(s.e); i++ {
		e := s.e[i]
		if e.seq != 0 && !f(name(uint32(i), e.seq), e.ctx, e.src, e.tag, e.id) {
			return
		}
	}
}
