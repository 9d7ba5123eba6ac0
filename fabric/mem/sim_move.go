package mem

import (
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

// SimMoveKind is what a move brings on.
type SimMoveKind uint8

const (
	MoveArrive   SimMoveKind = iota + 1 // the oldest message from Peer comes to Rank
	MoveTransfer                        // a Get, Put or Flush of Rank's towards Peer is carried out
	MoveDown                            // Rank learns that Peer is dead
)

// SimMove is one thing that the network may do next. What it brings waits for
// Rank's Poll.
type SimMove struct {
	Kind       SimMoveKind
	Rank, Peer int
	Op         fabric.Op // MoveTransfer
}

func (m SimMove) String() string {
	return fmt.Sprintf("%s at %d from %d", [...]string{MoveArrive: "arrive", MoveTransfer: "transfer", MoveDown: "down"}[m.Kind], m.Rank, m.Peer)
}

// Moves returns all that the network may do next. Messages of an ordered pair
// come in their order, everything else in any. The result is valid until the
// next call.
func (s *Sim) Moves() []SimMove {
	s.moves = s.moves[:0]
	for r, d := range s.domains {
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
			s.moves = append(s.moves, SimMove{Kind: MoveTransfer, Rank: r, Peer: o.peer, Op: o.op})
		}
	}
	return s.moves
}

// busyWith reports whether one of the first n operations is with the peer.
func (d *simDomain) busyWith(p, n int) bool {
	for _, o := range d.ops[:n] {
		if o.peer == p {
			return true
		}
	}
	return false
}

// mayMourn reports whether a rank may learn of a death: everything else from
// the dead comes before.
func (s *Sim) mayMourn(d *simDomain, p int) bool {
	if !s.domains[p].goneTo(d.rank) || d.told[p] || s.Meet != nil && !s.Meet(d.rank, p) || s.link(p, d.rank).count > 0 {
		return false
	}
	if d.busyWith(p, len(d.ops)) {
		return false
	}
	for i := range d.inbox {
		if d.inbox[i].peer == p {
			return false
		}
	}
	return true
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
	switch m.Kind {
	case MoveArrive:
		l := s.link(m.Peer, m.Rank)
		i := l.flight[0]
		l.flight = l.flight[1:]
		s.tell(SimEvent{What: SimArrive, Rank: m.Rank, Peer: m.Peer, Kind: i.kind, Imm: i.imm})
		d.inbox = append(d.inbox, i)
	case MoveTransfer:
		for i, o := range d.ops {
			if o.op == m.Op {
				d.ops = append(d.ops[:i:i], d.ops[i+1:]...)
				s.transfer(d, o)
				break
			}
		}
	case MoveDown:
		d.told[m.Peer] = true
		what, why := "rank was killed", fabric.ErrPeerDown
		if !s.domains[m.Peer].dead {
			what, why = "talk between goroutines", errEnded
		}
		d.inbox = append(d.inbox, simItem{what: callDown, peer: m.Peer,
			err: &fabric.Error{Op: what, Peer: fabric.Peer(m.Peer), HasPeer: true, Err: why}})
	}
}

var errReleased = errors.New("local memory was deregistered amid a transfer")

// transfer carries out a Get, a Put or a Flush as late as can be.
func (s *Sim) transfer(d *simDomain, o simOp) {
	if _, ok := d.regions[o.region]; o.region != 0 && !ok {
		s.tell(SimEvent{What: SimMisuse, Rank: d.rank, Peer: o.peer, Op: o.op, Err: errReleased})
	}
	err := o.fails
	peer := s.domains[o.peer]
	switch {
	case peer.goneTo(d.rank):
		err = &fabric.Error{Op: "get", Peer: fabric.Peer(o.peer), HasPeer: true, Err: fabric.ErrPeerDown}
	case err != nil:
	case o.flush:
		err, d.unsaid[o.peer] = d.unsaid[o.peer], nil
	case o.put:
		var b []byte
		if b, err = peer.reach(o.remote, len(o.local), fabric.RemoteWrite); err == nil {
			copy(b, o.local)
			if o.note != 0 {
				peer.inbox = append(peer.inbox, simItem{what: callNotify, peer: d.rank, note: o.note})
			}
		}
	default:
		var b []byte
		if b, err = peer.reach(o.remote, len(o.local), fabric.RemoteRead); err == nil {
			copy(o.local, b)
		}
	}
	s.over(d, o, err)
}

// over ends an operation, of which the next Poll tells.
func (s *Sim) over(d *simDomain, o simOp, err error) {
	s.tell(SimEvent{What: SimTransfer, Rank: d.rank, Peer: o.peer, Op: o.op, Put: o.put, Err: err})
	if o.op == fabric.NoOp {
		if d.unsaid[o.peer] == nil {
			d.unsaid[o.peer] = err
		}
		return
	}
	d.inbox = append(d.inbox, simItem{what: callComplete, peer: o.peer, op: o.op, err: err})
}

// Kill ends a rank. Of what it has sent a beginning still arrives, drawn; what
// is on its way to it is lost.
func (s *Sim) Kill(rank int) {
	d := s.domains[rank]
	if d.dead {
		return
	}
	s.tell(SimEvent{What: SimDeath, Rank: rank, Peer: rank})
	d.end()
	for p := range s.domains {
		out, in := s.link(rank, p), s.link(p, rank)
		keep := 0
		if n := len(out.flight); n > 0 {
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
