package partitioned

import "math/bits"

// Ready makes the partitions from first to last ready (MPI_Pready,
// MPI_Pready_range, MPI-4.0 §4.2.2): their memory does not change any more until
// the round has completed. What that completes leaves at once if the receiver has
// begun its round. It takes no lock, allocates nothing and waits for nobody; where
// memory of the receiver can be written to, the caller copies what it has made
// ready, and what lies in a layout it packs before. Local; for any number of
// goroutines, each with partitions of its own. The error is ErrNotStarted, a
// PartitionError, or why the round can't complete.
func (s *Send) Ready(first, last int) error {
	if err := s.check(first, last); err != nil {
		return err
	}
	if first > last {
		return &PartitionError{Partition: first, Partitions: s.parts}
	}
	if err := s.failed(); err != nil {
		return err
	}
	round := s.round.Load()
	if round == 0 {
		return ErrNotStarted
	}
	was := s.ready.any(first, last+1)
	for until := first; was < 0 && first <= last; first = until + 1 {
		until = last
		if s.layout != nil {
			until = min(last, first/s.shape.per*s.shape.per+s.shape.per-1) // a block leaves before the next is packed
		}
		due := false
		was = s.ready.fill(first, until+1, func(word int, fresh uint64) { due = s.count(word, fresh) || due })
		switch {
		case due && s.began.Load() == round:
			s.leave(first, until, round)
		case due && s.readable:
			s.kick.Do() // announces it
		}
	}
	if was >= 0 {
		return &PartitionError{Partition: was, Partitions: s.parts, Twice: true}
	}
	return nil
}

// count counts partitions that have become ready, the bits of a word, and reports
// whether a block has become due.
func (s *Send) count(word int, fresh uint64) (due bool) {
	if s.layout != nil {
		s.pack(word, fresh)
	}
	for fresh != 0 {
		b := (64*word + bits.TrailingZeros64(fresh)) / s.shape.per
		of := fresh & mask(word, b*s.shape.per, (b+1)*s.shape.per)
		fresh &^= of
		if s.left[b].Add(-int32(bits.OnesCount64(of))) == 0 {
			s.due.add(b)
			due = true
		}
	}
	return due
}

// leave sends what is due of the blocks of some partitions. If the receiver is
// awake and has nothing to read it reads them, with this rank's help; else the
// caller writes them: so both work.
func (s *Send) leave(first, last int, round uint32) {
	if to := s.to.Load(); to != nil && (!s.readable || s.lent.Load() > 0 || !to.ep.Awake()) {
		for b := first / s.shape.per; b <= last/s.shape.per; b++ {
			if s.due.claim(b) {
				s.write(to, b, 1, round)
			}
		}
	}
	s.kick.Do()
}
