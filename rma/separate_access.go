package rma

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/wire"
)

// An operation on a window with separate memory is announced to its target, which
// compares it with the others before it carries it out.

// acting is the line of the program's call, in a window that wants to know.
func (w *Win) acting() (line string) {
	if w.check != nil {
		line = w.check.line()
	}
	return line
}

// describe is a transfer as the target is told of it.
func (c *checker) describe(x *Transfer, named bool, line string) *access {
	a := &access{origin: c.w.rank, phase: c.phase.Load(), line: line} // pairs with synced
	switch {
	case x.Compare != nil:
		a.call, a.kind = accessSwap, x.Kind
	case x.Kind != 0 && x.Old != nil:
		a.call, a.code, a.kind = accessFetch, x.Code, x.Kind
	case x.Kind != 0:
		a.call, a.code, a.kind = accessAccumulate, x.Code, x.Kind
	case x.Old != nil:
		a.call = accessGet
	default:
		a.call = accessPut
	}
	switch s := c.w.epochs.load(); {
	case s&started != 0:
		a.epoch = inStart
	case s&lockedAll == 0 && s.locks() == 0:
	case named && a.returns():
		a.epoch = atOnce
	default:
		a.epoch = inLock
	}
	return a
}

// own takes an operation of this rank on its own part. For the owner.
func (c *checker) own(x *Transfer, line string) {
	a := c.describe(x, true, line) // its result is there when the call returns
	c.arrives(*a, uint64(x.At), uint64(x.bytes()))
}

// announce tells the target of an operation.
func (o *action) announce(ep fabric.Endpoint) error {
	e, a := o.w.e, o.act
	err := ep.Send(wire.RAccess, uint64(o.w.id), wire.MakeRAccess(e.hdr[:], wire.Access{At: uint64(o.at), Bytes: uint64(o.n), Phase: a.phase,
		Call: uint8(a.call), Code: uint8(a.code), Kind: uint8(a.kind), Ends: uint8(a.epoch)}), []byte(lastOf(a.line, o.t.caps.MaxEager)))
	if err == nil {
		o.act = nil
		o.t.unacked = true // a Get ends with a flush, too
	}
	return err
}

// mostLine is the length of a line in packets, in bytes.
const mostLine = 512

// lastOf is a line, or its end if it is too long for a packet.
func lastOf(line string, room int) string {
	const cut = "..."
	if room = min(room, mostLine); len(line) <= room {
		return line
	}
	return cut + line[len(line)-room+len(cut):]
}

// conclude tells the target that a flush follows.
func (c *checker) conclude(t *target, local bool) {
	a := wire.Access{Call: uint8(accessEnded)}
	if local {
		a.Call = uint8(accessReturned)
	}
	c.w.e.loop.Conn(t.peer).Post(wire.RAccess, uint64(c.w.id), wire.MakeRAccess(c.w.e.hdr[:], a))
}

// onAccess takes what a peer is about to do.
func (e *Engine) onAccess(from fabric.Peer, imm uint64, h wire.RAccessHeader, body []byte) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, nil)
	}
	if w.check == nil {
		return false
	}
	x := h.Access()
	a := access{origin: w.rankOf(from), call: accessCall(x.Call), code: op.Code(x.Code), kind: op.Kind(x.Kind), epoch: accessEpoch(x.Ends),
		phase: x.Phase, line: string(body)}
	switch a.call {
	case accessEnded, accessReturned:
		w.check.ledger.flushed(a.origin, a.call == accessReturned)
		return true
	case accessPut, accessGet, accessAccumulate, accessFetch, accessSwap:
	default:
		return false
	}
	if !a.possible() || a.epoch >= accessEpochs || len(body) > mostLine {
		return false
	}
	if size := uint64(len(w.mem)); !w.dynamic && (x.At > size || x.Bytes > size-x.At) {
		return false
	}
	if !w.dynamic || w.find(x.At, x.Bytes) != nil { // else it is refused
		w.check.arrives(a, x.At, x.Bytes)
	}
	return true
}

// possible reports whether a program can have called what an access says.
func (a *access) possible() bool {
	switch a.call {
	case accessPut, accessGet:
		return a.code == codeBytes && a.kind == 0
	case accessSwap:
		return a.code == 0 && a.kind.Size() > 0
	}
	return a.code != codeBytes && fits(a.code, a.kind, a.kind.Size()) || FitsPairs(a.code, a.kind)
}

// arrives compares an access with what is there. For the owner.
func (c *checker) arrives(a access, at, n uint64) {
	for _, k := range c.ledger.access(a, at, n) {
		c.report(k)
	}
	c.each(spans{{at, at + n}}, func(x *copies, from, to uint64) {
		if at, end := unlike(x.private[:to], x.was[:to], int(from)); at < end {
			c.report(clash{span{x.at + uint64(at), x.at + uint64(end)}, c.since, a})
		}
	})
}

// mostFound bounds the conflicts that wait for a call to return them.
const mostFound = 16

// note keeps a conflict, and reports whether it is a new one.
func (c *checker) note(e *ConflictError) bool {
	for _, old := range c.found {
		if old.Target == e.Target && (old.First == e.First && old.Second == e.Second || old.First == e.Second && old.Second == e.First) {
			return false
		}
	}
	if len(c.found) == mostFound {
		return false
	}
	c.found = append(c.found, e)
	return true
}

// report tells all who have a part in a conflict.
func (c *checker) report(k clash) {
	w := c.w
	x := wire.Conflict{At: k.span.at, Bytes: k.span.end - k.span.at}
	both := [2]access{k.first, k.second}
	for i, a := range both {
		x.Parties[i] = wire.Party{Rank: uint32(a.origin), Call: uint8(a.call), Code: uint8(a.code), Kind: uint8(a.kind)}
	}
	e := conflictOf(w.rank, x, both[0].line, both[1].line)
	if e.phase = c.ledger.phase; !c.note(e) {
		return
	}
	for i, a := range both {
		if a.origin == w.rank || i == 1 && a.origin == both[0].origin {
			continue
		}
		room := w.targets[a.origin].caps.MaxEager / 2
		first, second := lastOf(both[0].line, room), lastOf(both[1].line, room)
		x.Split = uint16(len(first))
		w.e.loop.Conn(w.targets[a.origin].peer).PostBody(wire.RConflict, uint64(w.id), wire.MakeRConflict(w.e.hdr[:], x), []byte(first+second))
	}
}

// onConflict takes a target's report of a conflict.
func (e *Engine) onConflict(from fabric.Peer, imm uint64, h wire.RConflictHeader, body []byte) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, nil)
	}
	x := h.Conflict()
	if w.check == nil || int(x.Split) > len(body) || len(body) > 2*mostLine {
		return false
	}
	for _, p := range x.Parties {
		a := access{call: accessCall(p.Call), code: op.Code(p.Code), kind: op.Kind(p.Kind)}
		store := a.call == accessStore && a.kind == 0 && p.Code <= uint8(callRequestOp)
		if int(p.Rank) >= len(w.targets) || !store && (a.call == 0 || a.call >= accessStore || !a.possible()) {
			return false
		}
	}
	w.check.note(conflictOf(w.rankOf(from), x, string(body[:x.Split]), string(body[x.Split:])))
	return true
}
