package launch

import (
	"sync"

	"github.com/weft-mpi/weft/mpi/cause"
)

// rendezvous is where ranks of a launched job meet: one round of Exchange after
// another. The launcher has one for all ranks. An agent has one for those of its
// host, and gets the tables from the launcher's. It does no I/O. Its methods are
// safe for concurrent use.
type rendezvous struct {
	mu      sync.Mutex
	size    int // of the job
	members int // ranks that join here
	current *round
	next    uint64      // number of the round after current
	joined  []uint64    // by rank: the rounds that it has joined here
	gone    []departure // by rank
	// full is called once for each round that all members have joined, with the lock
	// held. The launcher's makes the table.
	full func(r *round)
}

// departure says that a rank joins no round from a number on. lost is nil for a rank
// that may still join.
type departure struct {
	lost *cause.LostError
	from uint64
}

// round is one Exchange. done is closed once table or err is set.
type round struct {
	number  uint64
	parts   [][]byte // by rank; nil for ranks that have not joined here
	missing int
	done    chan struct{}
	table   []byte // payload of the table frame; read-only after done
	err     error  // read-only after done
}

func newRendezvous(size int) *rendezvous {
	return newRendezvousOf(size, size, func(r *round) { r.finish(appendTable(nil, r.number, r.parts), nil) })
}

// newRendezvousOf is the rendezvous of so many members, in a job of size ranks.
func newRendezvousOf(size, members int, full func(r *round)) *rendezvous {
	return &rendezvous{size: size, members: members, full: full, joined: make([]uint64, size), gone: make([]departure, size)}
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
			parts:   make([][]byte, v.size),
			missing: v.members,
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
	v.joined[rank] = number + 1
	if r.over() {
		return r, nil // has failed before this rank joined
	}
	for _, d := range v.gone {
		if d.lost != nil && d.from <= number {
			r.finish(nil, d.lost)
			return r, nil
		}
	}
	if r.missing == 0 {
		v.full(r)
	}
	return r, nil
}

// over reports whether the round has a result. Precondition: the rendezvous
// is locked.
func (r *round) over() bool { return r.table != nil || r.err != nil }

// finish gives the round its result. Precondition: it has none, and the rendezvous
// is locked.
func (r *round) finish(table []byte, err error) {
	r.table, r.err = table, err
	close(r.done)
}

// settle gives a round the table that the launcher has sent.
func (v *rendezvous) settle(number uint64, table []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.current
	if r == nil || r.number != number || r.missing > 0 {
		return protocolError("table of round %d, which this host has not joined", number)
	}
	if !r.over() {
		r.finish(table, nil)
	}
	return nil
}

// leave records that a rank joins no further round, and fails the round that
// waits for it. Only the first reason counts: first is false for others. from is the
// first round that the rank does not join.
func (v *rendezvous) leave(rank int, reason string) (from uint64, first bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	from = v.joined[rank]
	return from, v.depart(rank, from, reason)
}

// leaveFrom is leave for a rank that joins elsewhere, and is known to join no round
// from a number on.
func (v *rendezvous) leaveFrom(rank int, from uint64, reason string) (first bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.depart(rank, from, reason)
}

func (v *rendezvous) depart(rank int, from uint64, reason string) (first bool) {
	if v.gone[rank].lost != nil {
		return false
	}
	v.gone[rank] = departure{&cause.LostError{Rank: rank, Reason: reason}, from}
	if r := v.current; r != nil && !r.over() && from <= r.number {
		r.finish(nil, v.gone[rank].lost)
	}
	return true
}
