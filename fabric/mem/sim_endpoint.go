package mem

import (
	"github.com/weft-mpi/weft/fabric"
)

// simEndpoint is the way from one rank to another, or to itself.
type simEndpoint struct {
	fabric.Unoffered // Pack and Write

	d    *simDomain
	to   int
	link *simLink
}

// admit says whether an operation may begin.
func (e *simEndpoint) admit() error {
	switch s := e.d.sim; {
	case e.d.dead:
		return fabric.ErrClosed
	case e.d.down[e.to] != nil:
		return &fabric.Error{Op: "send", Peer: fabric.Peer(e.to), HasPeer: true, Err: e.d.down[e.to]}
	case e.d.told[e.to], s.chance(s.Again): // the next Poll will say so
		return fabric.ErrAgain
	}
	return nil
}

func (e *simEndpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	s := e.d.sim
	if len(hdr) > fabric.MaxHeader || len(body) > s.Caps.MaxEager {
		return fabric.ErrTooLong
	}
	err := e.admit()
	lost := s.domains[e.to].goneTo(e.d.rank)
	if err == nil && (e.link.count >= s.Depth || lost && s.rng.IntN(2) == 0) {
		err = fabric.ErrAgain
	}
	ev := SimEvent{What: SimSent, Rank: e.d.rank, Peer: e.to, Kind: kind, Imm: imm, Hdr: hdr, Body: body, Err: err}
	if err != nil {
		ev.What = SimAgain
	}
	s.tell(ev)
	if err != nil || lost { // what goes to the dead goes nowhere
		return err
	}
	e.link.count++
	s.look()
	e.link.flight = append(e.link.flight, simItem{what: callDeliver, peer: e.d.rank, stored: e.d.stored, kind: kind, imm: imm,
		hdr: append([]byte(nil), hdr...), body: append([]byte(nil), body...)})
	return nil
}

// nowhere reports whether m is what an engine sends for memory that it could not
// register.
func nowhere(m fabric.Remote) bool { return m.Addr == 0 && m.Key == 0 }

func (e *simEndpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	s := e.d.sim
	o := simOp{op: op, peer: e.to, local: dst.Bytes, region: dst.Region.Handle, remote: src}
	err := e.admit()
	switch {
	case err != nil:
	case !s.Caps.Get || nowhere(src) || s.chance(s.NoGet):
		err = fabric.ErrUnsupported
	case s.domains[e.to].goneTo(e.d.rank): // it will fail
	default:
		_, err = s.domains[e.to].reach(src, len(dst.Bytes), fabric.RemoteRead)
		if err == nil && s.chance(s.BadGet) {
			o.fails = ErrSim
		}
	}
	return e.begin(o, err)
}

func (e *simEndpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) error {
	s := e.d.sim
	o := simOp{op: op, peer: e.to, local: src.Bytes, region: src.Region.Handle, remote: dst, put: true}
	err := e.admit()
	switch {
	case err != nil:
	case !s.Caps.Put || nowhere(dst) || s.chance(s.NoGet):
		err = fabric.ErrUnsupported
	case s.domains[e.to].goneTo(e.d.rank): // it will fail
	default:
		_, err = s.domains[e.to].reach(dst, len(src.Bytes), fabric.RemoteWrite)
		if err == nil && s.chance(s.BadGet) {
			o.fails = ErrSim
		}
	}
	return e.begin(o, err)
}

func (e *simEndpoint) begin(o simOp, err error) error {
	ev := SimEvent{What: SimGet, Rank: e.d.rank, Peer: e.to, Op: o.op, Put: o.put, Err: err}
	switch err {
	case nil:
		e.d.sim.accepted++
		o.id = e.d.sim.accepted
		e.d.ops = append(e.d.ops, o)
	case fabric.ErrAgain:
		ev.What = SimAgain
	default:
		ev.What = SimNoGet
	}
	e.d.sim.tell(ev)
	return err
}

// Flush is carried out by a move, behind the operations before it.
func (e *simEndpoint) Flush(op fabric.Op) error {
	return e.begin(simOp{op: op, peer: e.to, flush: true}, e.admit())
}

// Atomic is carried out by a move, all of it at once.
func (e *simEndpoint) Atomic(a fabric.Atomic, dst fabric.Remote, op fabric.Op) error {
	s := e.d.sim
	o := simOp{op: op, peer: e.to, remote: dst, atomic: a}
	err := e.admit()
	switch {
	case !s.Caps.Atomics, a.Kind != fabric.FetchAdd && a.Kind != fabric.CompareSwap:
		err = fabric.ErrUnsupported
	case err != nil:
	case s.domains[e.to].goneTo(e.d.rank): // it will fail
	default:
		_, err = s.domains[e.to].reach(dst, 8, fabric.RemoteAtomic)
		if err == nil && s.chance(s.BadGet) {
			o.fails = ErrSim
		}
	}
	return e.begin(o, err)
}

// Reach returns this rank's view of memory of Share.
func (e *simEndpoint) Reach(r fabric.Remote) ([]byte, error) {
	if !e.d.sim.Caps.Reach {
		return nil, fabric.ErrUnsupported
	}
	if err := e.admit(); err != nil {
		return nil, err
	}
	peer := e.d.sim.domains[e.to]
	if peer.goneTo(e.d.rank) {
		return nil, fabric.ErrAgain // until Poll says so
	}
	n := int(min(r.Len, maxShare+1))
	if _, err := peer.reach(r, n, 0); err != nil {
		return nil, err
	}
	in := peer.regions[r.Key]
	if in.share == nil {
		return nil, fabric.ErrUnsupported
	}
	at := int(r.Addr - in.base)
	return e.d.sim.view(in.share, e.d.rank)[at : at+n : at+n], nil
}
