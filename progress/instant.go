package progress

// instant is the generation of the one request that stands for all operations
// that end in the call that starts them. Such an operation needs no request:
// its handle is a number, and one bit of a ring remembers that nobody has
// waited for it yet.
const instant = 0

// instants holds the bits of the last operations that ended at once. A handle
// older than the ring is taken for valid.
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

// close reports whether nobody has waited for the operation before.
func (s *instants) close(n uint32) bool {
	if s.last-n >= instantsKept {
		return true
	}
	word, bit := &s.bits[n%instantsKept/64], uint64(1)<<(n%64)
	was := *word
	*word = was &^ bit
	return was&bit != 0
}

// Instant reports whether the operation ended in the call that started it: its
// handle may be dropped without waiting. It is for anyone.
func (h Handle) Instant() bool { return h.r == &h.r.loop.ended }

// Instant returns the handle of an operation that has ended already, for the
// owner.
func (l *Loop) Instant() Handle { return Handle{&l.ended, l.instants.next()} }
