package partitioned

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
)

// A communicator that has been freed at this rank gets no receives any more, so a
// PInit that no receive has matched can't match: its send is told, and fails. A
// receive that was freed before its PInit keeps its place as long as one behind it
// may match. When nothing uses the communicator any more, nothing of it is left in
// the table, and another one may have its id.

// HandleFreed tells the engine how to ask whether a context's communicator has been
// freed, and why operations on it end at once, if they do; revoked is the error of those of
// one that has been revoked. It is called before Go.
func (e *Engine) HandleFreed(freed func(cid uint32) bool, forbidden func(cid uint32) error, revoked error) {
	e.freed, e.forbidden, e.revoked = freed, forbidden, revoked
}

// Revoke ends the operations of a context, whose communicator has been revoked, with err.
func (e *Engine) Revoke(cid uint32, err error) {
	e.names.each(func(s *side) {
		if of, _ := wire.Match(s.imm); of != cid || s.fault.Load() != nil {
			return
		}
		if s.why = wire.PartRevoked; s.send != nil {
			s.send.abandon(err)
		} else {
			s.recv.abandon(err)
		}
	})
}

// refuses fails a new side whose communicator has been revoked or ended, and reports whether
// it has.
func (s *side) refuses() bool {
	if s.e.forbidden == nil {
		return false
	}
	cid, _ := wire.Match(s.imm)
	err := s.e.forbidden(cid)
	if err != nil {
		if s.why = wire.PartFailed; errors.Is(err, s.e.revoked) {
			s.why = wire.PartRevoked
		}
		s.fail(err)
	}
	return err != nil
}

// Closed drops the PInits of a communicator that has been freed.
func (e *Engine) Closed(cid uint32) {
	for _, entry := range entriesOf(e.table.EachUnexpected, cid) {
		id, ok := e.table.DropUnexpected(entry)
		if !ok {
			continue
		}
		m := e.inits[id]
		e.inits[id] = invite{}
		e.spare = append(e.spare, id)
		if !m.forget {
			e.forgo(m.from, m.send, wire.PartUnmatched)
		}
	}
}

// Ended drops the receives of a communicator that nothing uses any more.
func (e *Engine) Ended(cid uint32) {
	e.Closed(cid)
	for _, entry := range entriesOf(e.table.EachPosted, cid) {
		at, ok := e.table.Withdraw(entry)
		if !ok {
			continue
		}
		if r := e.names.slots[at].s.recv; r.gone {
			r.forget()
		} else { // made as the communicator was freed, by another goroutine
			r.posted = false
			r.fail(errUnmade)
		}
	}
}

// entriesOf are the entries of a context.
func entriesOf(each func(func(match.Entry, uint32, int32, int32, uint32) bool), cid uint32) (all []match.Entry) {
	each(func(entry match.Entry, of uint32, _, _ int32, _ uint32) bool {
		if of == cid {
			all = append(all, entry)
		}
		return true
	})
	return all
}

// forgo tells a send that no receive will match it.
func (e *Engine) forgo(from fabric.Peer, m wire.PartSend, why wire.PartEnd) {
	e.post(from, wire.PAccept, m.Channel, wire.MakePAccept(e.hdr[:], wire.PartRecv{Verdict: wire.Forgone, Why: why}))
}
