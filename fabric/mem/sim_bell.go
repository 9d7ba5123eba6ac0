package mem

import "github.com/weft-mpi/weft/fabric"

// simBell is a rank's doorbell.
type simBell struct {
	level fabric.Wake // what is armed, 0 for nothing
	rung  bool
	rings []simRing // of Knocks, on their way
}

// simRing is the ring of a Knock.
type simRing struct {
	peer   int
	stored uint64 // what the knocking rank had stored: see simBuffer
}

// Arm pairs with Knock: where ArmFences is set, what was stored before a Knock
// that found nobody asleep is visible to the look behind Arm.
func (d *simDomain) Arm(w fabric.Wake) error {
	if d.dead {
		return fabric.ErrClosed
	}
	s := d.sim
	if s.look(); s.ArmFences {
		for _, p := range s.domains {
			s.fence(p, p.stored)
		}
	}
	d.level = w
	return nil
}

func (d *simDomain) Disarm() { d.level = 0 }

// Knock pairs with Arm.
func (e *simEndpoint) Knock(urgent bool) {
	s, peer := e.d.sim, e.d.sim.domains[e.to]
	if !s.Caps.Reach || e.d.dead {
		return
	}
	if s.look(); !s.ArmFences {
		s.fence(e.d, e.d.stored)
	}
	if peer.listens(urgent) && !peer.dead {
		s.tell(SimEvent{What: SimKnock, Rank: e.d.rank, Peer: e.to})
		peer.rings = append(peer.rings, simRing{e.d.rank, e.d.stored})
	}
}

func (b *simBell) listens(urgent bool) bool {
	return b.level == fabric.WakeAll || b.level != 0 && urgent
}

// hear rings for what has come into the inbox.
func (d *simDomain) hear(urgent bool) {
	if d.listens(urgent) {
		d.ring(d.rank)
	}
}

func (d *simDomain) ring(from int) {
	d.rung = true
	d.sim.tell(SimEvent{What: SimRing, Rank: d.rank, Peer: from})
}

// Woken reports whether a rank's doorbell has rung, and takes the ring, as the
// return of Wait does: a rank that sleeps goes on.
func (s *Sim) Woken(rank int) bool {
	d := s.domains[rank]
	was := d.rung
	d.rung = false
	return was
}
