package pt2pt

import (
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// blocking is the Mode of a receive or probe that a goroutine is in, without a request of
// the program's.
const blocking = uint8(modes)

// Pend has receives and probes from any source in a context wait no longer, from now on
// and those under way, unless a message is here: one of its ranks has died, and may be the
// one whose message they wait for. Blocking ones end with err. Those with a request stay,
// in doubt. For the owner.
func (e *Engine) Pend(cid uint32, err error) {
	if e.unsure == nil {
		e.unsure = map[uint32]error{}
	}
	e.unsure[cid] = err
	e.loop.Each(e, func(r *progress.Request) {
		if c, _ := wire.Match(r.Imm); c != cid || r.Peer != match.AnySource || r.Done() {
			return
		}
		switch {
		case r.Step != stepPosted && r.Step != stepProbing:
		case r.Mode == blocking:
			e.Cancel(r, err)
		default:
			e.doubt(r, err)
		}
	})
}

// doubt puts a receive in doubt: that of the program, if it is a half of one.
func (e *Engine) doubt(r *progress.Request, err error) {
	if r.Pair != nil {
		r = r.Pair
	}
	e.loop.Doubt(r, err)
}

// Unpend undoes Pend. For the owner.
func (e *Engine) Unpend(cid uint32) {
	if e.unsure[cid] == nil {
		return
	}
	delete(e.unsure, cid)
	e.loop.Each(e, func(r *progress.Request) {
		if c, _ := wire.Match(r.Imm); c == cid {
			e.loop.Trust(r)
		}
	})
}

// nothingComes returns why a receive or probe that has found no message does not wait for
// one, or nil.
func (e *Engine) nothingComes(r *progress.Request, cid uint32) error {
	if err := e.sourceDown(int(r.Peer), cid, r.Ranks()); err != nil {
		return err
	}
	err := e.unsure[cid]
	switch {
	case err == nil || r.Peer != match.AnySource:
		return nil
	case r.Mode == blocking:
		return err
	}
	e.doubt(r, err)
	return nil
}
