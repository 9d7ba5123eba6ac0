package rma

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// form is what packets say of the elements at the target.
type form uint8

const (
	asRange form = iota // they are one range of memory: as of a Transfer
	asType              // their type
	asRuns              // each piece that is one range: as of a Transfer of everything from the first element to the last
)

// typedAction is what an action has of a Typed.
type typedAction struct {
	x     Typed
	first int // byte of the operation that it begins with
	sides sides
	there datatype.Places // of the elements at the target
	low   int             // where they begin in its part
	span  int             // bytes up to their end

	form   form
	theirs *sentType // of asType, once the first packet leaves
	told   int       // bytes that the target has been told of, if the window checks accesses
	packed int       // the end of the piece that lies packed in the lane, which has the first operation alone
	native nativeTyped
}

// beginTyped has the loop carry the transfer out, from a byte on.
func (w *Win) beginTyped(x *Typed, first int, named bool, place [3]uintptr) (h progress.Handle, err error) {
	t := &w.targets[x.Target]
	y := &typedAction{x: *x, first: first}
	o := &action{w: w, t: t, named: named, get: x.Old.Type != nil, code: x.Code, kind: x.Kind, elem: max(sizeOfKind(x.Kind), 1), n: x.bytes() - first, typed: y}
	if err := y.open(o); err != nil {
		return h, err
	}
	if w.check != nil {
		o.act = w.check.describe(y.shape(), named, w.acting())
	}
	w.e.loop.Exclusive(func() {
		r := w.e.loop.New()
		o.fill(r, kindTransfer, place)
		if !named {
			o.start(r)
			return
		}
		if !w.e.loop.Over() {
			w.e.add(o, r)
		}
		h = r.Handle()
		w.e.loop.Begin(w.e, r)
	})
	return h, nil
}

// open sets the cursors and settles how the operation goes.
func (y *typedAction) open(o *action) error {
	x := &y.x
	lo, hi, err := x.Type.Span(x.Count)
	if err != nil {
		return err
	}
	y.low, y.span = x.At+lo, hi-lo
	if err := y.there.Reset(x.Type, x.Count); err != nil {
		return err
	}
	if err := y.sides.openOwn(x); err != nil {
		return err
	}
	switch _, _, one := x.Type.Range(x.Count); {
	case one && !isPair(x.Kind):
		y.form = asRange
	case o.w.e.encodings.of(x.Type).code != "":
		y.form = asType
	case isPair(x.Kind):
		return ErrTypeTooLong
	default:
		y.form = asRuns
	}
	y.native.choose(o)
	return nil
}

// shape is a Transfer of the same call, without its memory.
func (y *typedAction) shape() *Transfer {
	s := &Transfer{Code: y.x.Code, Kind: y.x.Kind}
	if y.x.Old.Type != nil {
		s.Old = []byte{}
	}
	return s
}

func (o *action) beginTyped() {
	switch {
	case o.t.rank == o.w.rank:
		o.onOwnTyped()
	case !o.typed.native.chosen || o.t.packets || o.register() != nil:
		o.enlane()
	default:
		if c := o.conn(); c.Busy() || o.post() == fabric.ErrAgain {
			c.Enqueue(o.r)
		}
	}
}

// onOwnTyped is onOwn.
func (o *action) onOwnTyped() { o.endOwn(o.w.applyTyped(&o.typed.x, o.line())) }

// sendTyped sends the next packet of the operation: with a piece of it, or before the
// first of these one with a piece of the type.
func (o *action) sendTyped(ep fabric.Endpoint) error {
	y, e, l := o.typed, o.w.e, o.w.e.lanes[o.t.peer]
	room, at := o.t.caps.MaxEager, y.first+o.sent
	n := min(o.n-o.sent, room/o.elem*o.elem)
	// Of the form asType the place is that of displacement 0, else of the piece.
	p := wire.Piece{Offset: uint64(at), Total: uint64(y.first + o.n), Code: uint8(o.code), Kind: uint8(o.kind)}
	switch y.form {
	case asType:
		if y.theirs == nil {
			y.theirs = l.types.of(e.encodings.of(y.x.Type).code, e.kept)
		}
		if y.theirs.sent < len(y.theirs.code) {
			return y.theirs.send(l, ep, room)
		}
		p.At = uint64(y.x.At)
	case asRange:
		p.At = uint64(y.low + at)
	case asRuns:
		y.there.Seek(at)
		off := 0
		off, n = y.there.Next(n)
		p.At, p.Offset, p.Total = uint64(y.low+off), uint64(off), uint64(y.span)
	}
	if o.act != nil && y.told == o.sent {
		if err := o.announceTyped(ep, p, n); err != nil {
			return err
		}
		y.told += n
	}
	if err := o.sendPiece(ep, p, n, y.operands(l, at, n)); err != nil {
		return err
	}
	o.sent += n
	if o.get {
		l.asked++
	} else {
		o.t.unacked = true
	}
	return nil
}

// sendPiece sends a piece of n bytes.
func (o *action) sendPiece(ep fabric.Endpoint, p wire.Piece, n int, operands []byte) error {
	e, y, id, request := o.w.e, o.typed, uint64(o.w.id), uint64(o.r.Op())
	switch {
	case y.form != asType && o.get:
		return ep.Send(wire.RGet, id, wire.MakeRGet(e.hdr[:], p, uint64(n), request), operands)
	case y.form != asType:
		return ep.Send(wire.RAcc, id, wire.MakeRAcc(e.hdr[:], p), operands)
	case o.get:
		return ep.Send(wire.RGetTyped, id, wire.MakeRGetTyped(e.hdr[:], y.piece(p), uint64(n), request), operands)
	}
	return ep.Send(wire.RAccTyped, id, wire.MakeRAccTyped(e.hdr[:], y.piece(p)), operands)
}

// piece is p of elements of the type.
func (y *typedAction) piece(p wire.Piece) wire.TypedPiece {
	return wire.TypedPiece{At: p.At, Count: uint64(y.x.Count), Offset: p.Offset, Type: y.theirs.id, Code: p.Code, Kind: p.Kind}
}

// operands are n bytes of the origin's, packed: its memory, if they are one range there,
// nil if there are none.
func (y *typedAction) operands(l *lane, at, n int) []byte {
	if y.x.Src.Type == nil {
		return nil
	}
	s := &y.sides
	s.src.Seek(at)
	if off, k := s.src.Next(n); k == n {
		return s.from[off : off+n]
	}
	if y.packed != at+n { // else there was no room for them before
		if cap(l.packed) < n {
			l.packed = make([]byte, n)
		}
		s.src.Seek(at)
		s.src.Pack(l.packed[:n])
		y.packed = at + n
	}
	return l.packed[:n]
}

// take takes the next piece of a result, which come in the order in which they were asked
// for.
func (o *action) take(body []byte) {
	old := &o.typed.sides.old
	old.Seek(o.typed.first + o.got)
	old.Unpack(body)
}

// refusal is the error of a target that has refused a piece.
func (o *action) refusal(h wire.RRefusedHeader) error {
	err := refusal(o.t.rank, h)
	if y := o.typed; y != nil && errors.As(err, new(*RangeError)) {
		return &RangeError{o.t.rank, uint64(y.low), uint64(y.span)}
	}
	return err
}
