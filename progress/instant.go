package progress

// instant is the generation of the one request that stands for all operations
// that complete in their own call. Such an operation needs no request: its
// handle is a number, and one bit of a ring records that it has not been waited
// for yet.
const instant = 0

// instants holds the bits of the last operations that completed at once. A
// handle older than the ring is taken for valid.
type instants struct {
	last uint32
	bits [1024]uint64
}

const instantsKept = uint32(len(instants{}.bits) * 64)

func (s *instants) next() uint32 {
	s.last++
	i := s.last % instantsKept
	s.bits[i/64] |= 1 << (i % 64)
	return s.last
}

func (s *instants) open(n uint32) bool {
	i := n % instantsKept
	return s.last-n >= instantsKept || s.bits[i/64]&(1<<(i%64)) != 0
}

// close reports whether the operation had not been waited for before.
func (s *instants) close(n uint32) bool {
	if s.last-n >= instantsKept {
		return true
	}
	word, bit := &s.bits[n%instantsKept/64], uint64(1)<<(n%64)
	was := *word
	*word = was &^ bit
	return was&bit != 0
}

// Instant reports whether the operation completed in its own call: its handle
// may be dropped without a wait. For anyone.
func (h Handle) Instant() bool { return h.r == &h.r.loop.ended }

// Instant returns the handle of an operation that has completed already. For the
// owner.
func (l *Loop) Instant() Handle { return Handle{r: &l.ended, gen: l.instants.next()} }
