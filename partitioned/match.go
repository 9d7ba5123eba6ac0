package partitioned

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
)

// A receive that is freed, or abandoned, before its PInit has come stays in the
// table, and so does a PInit whose send has been freed: the calls after them match
// each other as if nothing had happened.

// onInit takes the description of a send.
func (e *Engine) onInit(from fabric.Peer, imm uint64, m wire.PartSend) {
	cid, tag := wire.Match(imm)
	if at, ok := e.table.Arrive(cid, int32(from), tag); ok {
		e.names.slots[at].s.recv.accept(m)
		return
	}
	if e.freed != nil && e.freed(cid) {
		e.forgo(from, m, wire.PartUnmatched)
		return
	}
	var id uint32
	if last := len(e.spare) - 1; last >= 0 {
		id = e.spare[last]
		e.spare = e.spare[:last]
	} else {
		id = uint32(len(e.inits))
		e.inits = append(e.inits, invite{})
	}
	e.inits[id] = invite{from: from, send: m}
	e.table.AddUnexpected(cid, int32(from), tag, id)
}

// takeInit matches r with a PInit that has come before.
func (e *Engine) takeInit(r *Recv, id uint32) {
	m := e.inits[id]
	e.inits[id] = invite{}
	e.spare = append(e.spare, id)
	if m.forget {
		r.fail(r.lost(m.why))
		return
	}
	r.accept(m.send)
}

// onFree: the peer's side is no more.
func (e *Engine) onFree(from fabric.Peer, name uint64, h wire.PEndHeader) {
	if !h.Own() {
		if s := e.names.find(name, from); s != nil {
			s.peerFreed(h.Why())
		}
		return
	}
	for id := range e.inits {
		if m := &e.inits[id]; m.from == from && m.send.Channel == name {
			m.forget = true
			m.why = h.Why()
			return
		}
	}
	e.names.each(func(s *side) { // it has matched, and our reply is on its way
		if s.recv != nil && s.peer == int32(from) && s.theirs == name {
			s.peerFreed(h.Why())
		}
	})
}

// peerFreed fails the side because its peer has given up the other.
func (s *side) peerFreed(why wire.PartEnd) {
	s.told = true // it needs to know nothing of this one
	if s.send != nil {
		s.send.lent.Store(0) // nobody is left to read
	} else {
		s.recv.stopping = false // nobody is left to write, and to reply
	}
	s.fail(s.lost(why))
}

// lost is the error of the side whose peer has given up the other.
func (s *side) lost(why wire.PartEnd) error {
	rank, remote := s.other()
	return &GoneError{Rank: rank, Remote: remote, Sends: s.recv != nil, why: why}
}

// other is the peer's rank, of the remote group if this rank is in none with it.
func (s *side) other() (rank int, remote bool) {
	return s.ranks.Rank(int(s.peer)), s.ranks.Rank(s.e.rank) < 0
}

// dropInits forgets the sends of a peer that is down.
func (e *Engine) dropInits(p fabric.Peer) {
	var gone []match.Entry
	e.table.EachUnexpected(func(entry match.Entry, _ uint32, src, _ int32, _ uint32) bool {
		if src == int32(p) {
			gone = append(gone, entry)
		}
		return true
	})
	for _, entry := range gone {
		if id, ok := e.table.DropUnexpected(entry); ok {
			e.inits[id] = invite{}
			e.spare = append(e.spare, id)
		}
	}
}

// downTo returns why a rank of the job can't be reached, or nil.
func (e *Engine) downTo(peer int32) error {
	if int(peer) == e.rank {
		return nil
	}
	return e.loop.Conn(fabric.Peer(peer)).Down()
}
