package boot

import "sync"

// rendezvous is where the ranks of a launched job meet: one round of Exchange
// after another. It does no I/O. Its methods are safe for concurrent use.
type rendezvous struct {
	mu      sync.Mutex
	current *round
	next    uint64       // number of the round after current
	gone    []*LostError // by rank; nil while the rank may still join
}

// round is one Exchange. done is closed once table or err is set.
type round struct {
	number  uint64
	parts   [][]byte // nil for ranks that have not joined
	missing int
	done    chan struct{}
	table   []byte // payload of the table frame; read-only after done
	err     error  // read-only after done
}

func newRendezvous(size int) *rendezvous {
	return &rendezvous{gone: make([]*LostError, size)}
}

// join adds a rank's bytes to round number. part belongs to the rendezvous from
// here on. The error says that the rank breaks the order of rounds.
func (v *rendezvous) join(rank int, number uint64, part []byte) (*round, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.current
	if r == nil || r.over() && number == v.next {
		r = &round{
			number:  v.next,
			parts:   make([][]byte, len(v.gone)),
			missing: len(v.gone),
			done:    make(chan struct{}),
		}
		v.current = r
		v.next++
	}
	if number != r.number || r.parts[rank] != nil {
		return nil, protocolError("offer for round %d while round %d is on", number, r.number)
	}
	if part == nil {
		part = []byte{}
	}
	r.parts[rank] = part
	r.missing--
	if r.over() {
		return r, nil // has failed before this rank joined
	}
	for i, lost := range v.gone {
		if lost != nil && r.parts[i] == nil {
			r.err = lost
			close(r.done)
			return r, nil
		}
	}
	if r.missing == 0 {
		r.table = appendTable(nil, r.number, r.parts)
		close(r.done)
	}
	return r, nil
}

// over reports whether the round has a result. Precondition: the rendezvous
// is locked.
func (r *round) over() bool { return r.table != nil || r.err != nil }

// leave records that a rank joins no further round, and fails the round that
// waits for it. Only the first reason counts.
func (v *rendezvous) leave(rank int, reason string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.gone[rank] != nil {
		return
	}
	v.gone[rank] = &LostError{Rank: rank, Reason: reason}
	if r := v.current; r != nil && !r.over() && r.parts[rank] == nil {
		r.err = v.gone[rank]
		close(r.done)
	}
}
