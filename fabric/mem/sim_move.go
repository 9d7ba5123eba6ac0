package mem

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/fabric"
)

// SimMoveKind is what a move brings on.
type SimMoveKind uint8

const (
	MoveArrive   SimMoveKind = iota + 1 // the oldest message from Peer comes to Rank
	MoveTransfer                        // a Get, Put, Atomic or Flush of Rank's towards Peer is carried out
	MoveDown                            // Rank learns that Peer is dead
	MoveStore                           // the oldest of what Rank has stored becomes visible to all
	MoveRing                            // the oldest Knock comes to Rank, from Peer
)

// SimMove is one thing that the network may do next. What it brings waits for
// Rank's Poll.
type SimMove struct {
	Kind       SimMoveKind
	Rank, Peer int
	Op         fabric.Op // MoveTransfer
	id         uint64    // MoveTransfer: which operation, 0 for any of that name
}

func (m SimMove) String() string {
	return fmt.Sprintf("%s at %d from %d", [...]string{MoveArrive: "arrive", MoveTransfer: "transfer", MoveDown: "down",
		MoveStore: "store", MoveRing: "ring"}[m.Kind], m.Rank, m.Peer)
}

// Moves returns all that the network may do next. Messages of an ordered pair
// come in their order, everything else in any. The result is valid until the
// next call.
func (s *Sim) Moves() []SimMove {
	s.moves = s.moves[:0]
	s.look()
	for r, d := range s.domains {
		if len(d.stores) > 0 {
			s.moves = append(s.moves, SimMove{Kind: MoveStore, Rank: r, Peer: r})
		}
		if d.dead {
			continue
		}
		for p := range s.domains {
			if len(s.link(p, r).flight) > 0 {
				s.moves = append(s.moves, SimMove{Kind: MoveArrive, Rank: r, Peer: p})
			}
			if s.mayMourn(d, p) {
				s.moves = append(s.moves, SimMove{Kind: MoveDown, Rank: r, Peer: p})
			}
		}
		for i, o := range d.ops {
			if o.flush && d.busyWith(o.peer, i) {
				continue
			}
			s.moves = append(s.moves, SimMove{Kind: MoveTransfer, Rank: r, Peer: o.peer, Op: o.op, id: o.id})
		}
		if len(d.rings) > 0 {
			s.moves = append(s.moves, SimMove{Kind: MoveRing, Rank: r, Peer: d.rings[0].peer})
		}
	}
	return s.moves
}

// busyWith reports whether one of the first n operations is with the peer.
func (d *simDomain) busyWith(p, n int) bool {
	return slices.ContainsFunc(d.ops[:n], func(o simOp) bool { return o.peer == p })
}

// mayMourn reports whether a rank may learn of a death: everything else from
// the dead comes before.
func (s *Sim) mayMourn(d *simDomain, p int) bool {
	if !s.domains[p].goneTo(d.rank) || d.told[p] || s.Meet != nil && !s.Meet(d.rank, p) || s.link(p, d.rank).count > 0 {
		return false
	}
	if d.busyWith(p, len(d.ops)) || s.domains[p].dead && len(s.domains[p].stores) > 0 {
		return false
	}
	return !slices.ContainsFunc(d.inbox, func(i simItem) bool { return i.peer == p })
}

// Step makes one move, drawn, and reports whether there was one.
func (s *Sim) Step() bool {
	moves := s.Moves()
	if len(moves) == 0 {
		return false
	}
	m := moves[s.rng.IntN(len(moves))]
	for range 3 {
		if m.Kind != MoveArrive || !s.chance(s.link(m.Peer, m.Rank).slow) {
			break
		}
		m = moves[s.rng.IntN(len(moves))]
	}
	s.Do(m)
	return true
}

// Do makes a move of Moves.
func (s *Sim) Do(m SimMove) {
	d := s.domains[m.Rank]
	s.look()
	switch m.Kind {
	case MoveArrive:
		l := s.link(m.Peer, m.Rank)
		i := l.flight[0]
		l.flight = l.flight[1:]
		s.fence(s.domains[m.Peer], i.stored)
		s.tell(SimEvent{What: SimArrive, Rank: m.Rank, Peer: m.Peer, Kind: i.kind, Imm: i.imm})
		d.inbox = append(d.inbox, i)
		d.hear(i.kind&fabric.Urgent != 0 || l.count > s.Depth/2)
	case MoveTransfer:
		for i, o := range d.ops {
			if o.id == m.id || m.id == 0 && o.op == m.Op && o.peer == m.Peer {
				d.ops = append(d.ops[:i:i], d.ops[i+1:]...)
				s.transfer(d, o)
				break
			}
		}
	case MoveDown:
		d.told[m.Peer] = true
		peer := s.domains[m.Peer]
		what, why := "rank was killed", peer.gone()
		switch {
		case !peer.dead:
			what, why = "talk between goroutines", errEnded
		case peer.left:
			what = "talk between goroutines"
		}
		d.inbox = append(d.inbox, simItem{what: callDown, peer: m.Peer,
			err: &fabric.Error{Op: what, Peer: fabric.Peer(m.Peer), HasPeer: true, Err: why}})
		d.hear(true)
	case MoveStore:
		s.publish(d)
	case MoveRing:
		r := d.rings[0]
		d.rings = d.rings[1:]
		s.fence(s.domains[r.peer], r.stored)
		d.ring(r.peer)
	}
}

var errReleased = errors.New("local memory was deregistered amid a transfer")

// transfer carries out a Get, a Put, an Atomic or a Flush as late as can be.
func (s *Sim) transfer(d *simDomain, o simOp) {
	if _, ok := d.regions[o.region]; o.region != 0 && !ok {
		s.tell(SimEvent{What: SimMisuse, Rank: d.rank, Peer: o.peer, Op: o.op, Err: errReleased})
	}
	err := o.fails
	peer := s.domains[o.peer]
	switch {
	case peer.goneTo(d.rank):
		err = &fabric.Error{Op: "get", Peer: fabric.Peer(o.peer), HasPeer: true, Err: peer.gone()}
	case err != nil:
	case o.flush:
		err = d.failed(o)
	case o.put:
		var b []byte
		if b, err = peer.reach(o.remote, len(o.local), fabric.RemoteWrite); err == nil {
			copy(b, o.local)
			peer.written(o.remote)
		}
	case o.atomic.Kind != 0:
		var b []byte
		if b, err = peer.reach(o.remote, 8, fabric.RemoteAtomic); err == nil {
			act(o.atomic, b)
			peer.written(o.remote)
		}
	default:
		var b []byte
		if b, err = peer.reach(o.remote, len(o.local), fabric.RemoteRead); err == nil {
			copy(o.local, b)
		}
	}
	s.over(d, o, err)
}

// act carries out an Atomic on a word.
func act(a fabric.Atomic, word []byte) {
	old := binary.NativeEndian.Uint64(word)
	switch {
	case a.Kind == fabric.FetchAdd:
		binary.NativeEndian.PutUint64(word, old+a.Operand)
	case old == a.Compare:
		binary.NativeEndian.PutUint64(word, a.Operand)
	}
	if a.Result != nil {
		*a.Result = old
	}
}

// failed returns what a Flush tells of: the first failure of the NoOps before it.
func (d *simDomain) failed(flush simOp) (err error) {
	d.unsaid = slices.DeleteFunc(d.unsaid, func(f simFailure) bool {
		told := f.peer == flush.peer && f.id < flush.id
		if told && err == nil {
			err = f.err
		}
		return told
	})
	return err
}

// over ends an operation, of which the next Poll tells.
func (s *Sim) over(d *simDomain, o simOp, err error) {
	s.tell(SimEvent{What: SimTransfer, Rank: d.rank, Peer: o.peer, Op: o.op, Put: o.put, Err: err})
	if o.op == fabric.NoOp {
		if err != nil {
			d.unsaid = append(d.unsaid, simFailure{o.peer, o.id, err})
		}
		return
	}
	d.inbox = append(d.inbox, simItem{what: callComplete, peer: o.peer, op: o.op, err: err})
	d.hear(true)
}

// Kill ends a rank. Of what it has sent a beginning still arrives, drawn; what
// is on its way to it is lost. What it has stored becomes visible before anybody
// learns of its end.
func (s *Sim) Kill(rank int) { s.end(rank, false) }

// end ends a rank; all that it has sent arrives if whole.
func (s *Sim) end(rank int, whole bool) {
	d := s.domains[rank]
	if d.dead {
		return
	}
	s.tell(SimEvent{What: SimDeath, Rank: rank, Peer: rank})
	s.look()
	d.end()
	for p := range s.domains {
		out, in := s.link(rank, p), s.link(p, rank)
		keep := len(out.flight)
		if n := keep; n > 0 && !whole {
			keep = s.rng.IntN(n + 1)
		}
		out.cut(keep)
		in.flight, in.count = nil, 0
	}
}

// cut loses what is on its way but for so many messages.
func (l *simLink) cut(keep int) {
	l.count -= len(l.flight) - keep
	l.flight = l.flight[:keep]
}
