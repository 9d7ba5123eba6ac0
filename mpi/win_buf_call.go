package mpi

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/rma"
)

// bufCall is an operation on a window with Bufs.
type bufCall struct {
	name           string
	accumulates    bool
	o              *Op
	origin, result *Buf // nil where there is none
	count          int  // elements at the target
	t              *Datatype
}

// do does the operation without a request.
func (c *bufCall) do(w *Win, target, disp int) error {
	var x rma.Typed
	switch err := c.fill(w, &x, target, disp); {
	case err != nil:
		return err
	case target == ProcNull:
		return w.fail(c.name, w.core.DoNothing(false))
	case x.Type == nil:
		return w.fail(c.name, w.core.Do(&rma.Transfer{Target: target}))
	}
	if err := w.core.DoTyped(&x); err != nil {
		return w.fail(c.name, err)
	}
	return nil
}

// begin does it with one.
func (c *bufCall) begin(w *Win, target, disp int) (Request, error) {
	var x rma.Typed
	if err := c.fill(w, &x, target, disp); err != nil {
		return Request{}, err
	}
	switch {
	case target == ProcNull:
		if err := w.core.DoNothing(true); err != nil {
			return Request{}, w.fail(c.name, err)
		}
		return w.null(), nil
	case x.Type == nil:
		h, err := w.core.Begin(&rma.Transfer{Target: target})
		if err != nil {
			return Request{}, w.fail(c.name, err)
		}
		return w.c.request(h), nil
	}
	h, err := w.core.BeginTyped(&x)
	if err != nil {
		return Request{}, w.fail(c.name, err)
	}
	return w.c.request(h), nil
}

// fill checks the call and makes a transfer of it, without a type if it is about no
// bytes. Its errors have been raised.
func (c *bufCall) fill(w *Win, x *rma.Typed, target, disp int) error {
	if err := w.checkTarget(c.name, target); err != nil {
		return err
	}
	err := c.check()
	if err == nil && target != ProcNull {
		if err = c.place(w, target, disp); err == nil && w.c.signs {
			err = c.compareTypes(target)
		}
	}
	if err != nil {
		return w.raise(err)
	}
	if target == ProcNull || c.bytes() == 0 {
		return nil
	}
	_, unit := w.core.Size(target)
	if w.kind == FlavorDynamic {
		unit = 1
	}
	x.Target, x.At, x.Type, x.Count = target, disp*unit, c.t.t, c.count
	if c.accumulates {
		k, _ := c.t.t.Kind()
		x.Code, x.Kind = (*op.Op)(c.o).Code(), rma.KindOf(k)
	}
	if c.origin != nil {
		x.Src = c.origin.elements()
	}
	if c.result != nil {
		x.Old = c.result.elements()
	}
	return nil
}

// elements are those of a checked Buf that has some.
func (b *Buf) elements() rma.Elements {
	return rma.Elements{Type: b.t.t, Count: b.n, Mem: b.mem, Origin: b.origin}
}

// bytes is how many bytes a checked call is about.
func (c *bufCall) bytes() int { return c.count * c.t.t.Size() }

// check checks all but the place.
func (c *bufCall) check() error {
	if err := c.t.refuse(c.name); err != nil {
		return err
	}
	switch {
	case !c.t.t.Committed():
		return badArg(c.name, ErrType, "t: %w", datatype.ErrNotCommitted)
	case c.count < 0:
		return badArg(c.name, ErrCount, "the count is %d elements at the target", c.count)
	}
	n, err := c.t.t.PackSize(c.count)
	if err != nil || n > wire.MaxLength {
		return badArg(c.name, ErrCount, "%d elements of %d bytes at the target are too many", c.count, c.t.Size())
	}
	if c.accumulates {
		if err := c.checkOperator(); err != nil {
			return err
		}
	}
	name := "origin"
	if c.origin != nil {
		if err := c.checkBuf(c.origin, name, false, n); err != nil {
			return err
		}
		name = "result"
	}
	if c.result != nil {
		if err := c.checkBuf(c.result, name, true, n); err != nil {
			return err
		}
	}
	if c.origin != nil && c.result != nil && c.origin.meets(c.result) {
		return errOverlap(c.name, "origin", "result")
	}
	if c.origin != nil || c.accumulates { // else it is a Get
		if overlaps, _ := c.t.t.Overlaps(c.count); overlaps {
			return badArg(c.name, ErrType, "some of the %d elements at the target overlap", c.count)
		}
	}
	return nil
}

// checkBuf checks a buffer for elements of n bytes.
func (c *bufCall) checkBuf(b *Buf, name string, into bool, n int) error {
	if err := b.check(c.name, name, into); err != nil {
		return err
	}
	if b.size() != n {
		return badArg(c.name, ErrCount, "%s has %d bytes of data and the elements at the target %d: they are equally many", name, b.size(), n)
	}
	if !c.accumulates || n == 0 {
		return nil
	}
	there, _ := c.t.t.Kind()
	switch here, ok := b.t.t.Kind(); {
	case !ok:
		return badArg(c.name, ErrType, "%s has elements of several predefined types: those of an accumulate are of one", name)
	case here != there:
		return badArg(c.name, ErrType, "%s has elements of %v and the target of %v: those of an accumulate are of one predefined type", name, here, there)
	}
	return nil
}

// checkOperator checks the operator and the type at the target. NoOp has no origin.
func (c *bufCall) checkOperator() error {
	switch {
	case c.o == nil:
		return badArg(c.name, ErrOp, "the operator is nil: give one of MPI's, such as Sum")
	case (*op.Op)(c.o).Zero():
		return &Error{Class: ErrOp, Call: c.name, Err: op.ErrZero}
	case c.o == NoOp && c.result == nil:
		return badArg(c.name, ErrOp, "NoOp changes nothing: it is for calls that return elements, such as GetAccumulate")
	case c.o == NoOp:
		c.origin = nil
	}
	if c.t.Size() == 0 || c.count == 0 {
		return nil
	}
	k, ok := c.t.t.Kind()
	of := rma.KindOf(k)
	switch {
	case !ok:
		return badArg(c.name, ErrType, "the type of the elements at the target has several predefined types: those of an accumulate are of one")
	case of == 0:
		return badArg(c.name, ErrType, "accumulates change no elements of %v", k)
	case rma.FitsPairs((*op.Op)(c.o).Code(), of):
		return nil
	}
	if _, err := (*op.Op)(c.o).OnWindow(of); err != nil {
		return badArg(c.name, ErrOp, "%w", err)
	}
	if code := (*op.Op)(c.o).Code(); k == datatype.Byte && code < op.CodeBAnd {
		return badArg(c.name, ErrOp, "%v does not fit bytes: they take BAnd, BOr, BXor, Replace and NoOp", c.o)
	}
	return nil
}

// compareTypes refuses a call that would move other basic elements than there are at the
// other side: it is as good as a message between the two (MPI-4.0 §12.3). Those of an
// accumulate are of one kind by now.
func (c *bufCall) compareTypes(target int) error {
	sent, wanted := cmp.Or(c.origin, c.result).whole(), part{c.t.t, c.count}
	from, to := "origin", "the target"
	if c.origin == nil {
		sent, wanted, from, to = wanted, sent, to, from
	}
	if sent.t.Sig(sent.n).Matches(wanted.t.Sig(wanted.n)) {
		return nil
	}
	var a, b record
	a.sign(sent.t, sent.n, "")
	b.sign(wanted.t, wanted.n, "")
	return &Error{Class: ErrType, Call: c.name, Err: &SignatureError{Sent: a.words(), Wanted: b.words(), Call: c.name, Rank: target, from: from, to: to}}
}

// place checks that the elements lie in the target's part.
func (c *bufCall) place(w *Win, target, disp int) error {
	if disp < 0 {
		return badArg(c.name, ErrDisp, "the displacement %d is negative", disp)
	}
	if c.bytes() == 0 { // they touch nothing, wherever that is
		return nil
	}
	lo, hi, err := c.t.t.Span(c.count)
	if err != nil {
		return badArg(c.name, ErrCount, "the elements at the target: %w", err)
	}
	if w.kind == FlavorDynamic { // the target knows more
		if lo < -disp || hi > math.MaxInt-disp || uint64(hi)-uint64(lo) > wire.MaxLength {
			return badArg(c.name, ErrRMARange, "no memory has the bytes from %d to %d behind the address %#x", lo, hi, disp)
		}
		return nil
	}
	size, unit := w.core.Size(target)
	high, at := bits.Mul64(uint64(disp), uint64(unit))
	if high != 0 || at > math.MaxInt || lo < -int(at) || hi > size-int(at) {
		return badArg(c.name, ErrRMARange, "the elements touch the bytes from %d to %d behind displacement %d (of %d bytes each), which are not all in the part of rank %d, which has %d bytes",
			lo, hi, disp, unit, target, size)
	}
	return nil
}

// predefined raises what keeps a buffer from being one element of a predefined type.
func (w *Win) predefined(call, name string, b *Buf) error {
	if w.gone() {
		return w.explain(call)
	}
	if b.t == nil {
		return w.raise(badArg(call, ErrCount, "%s has no elements: give one", name))
	}
	if err := b.check(call, name, false); err != nil {
		return w.raise(err)
	}
	if b.n != 1 {
		return w.raise(badArg(call, ErrCount, "%s has %d elements: give one", name, b.n))
	}
	if c, _, _, _ := b.t.t.Envelope(); c != datatype.CombinerNamed {
		return w.raise(badArg(call, ErrType, "%s has an element of a derived type: %s is for predefined ones", name, call))
	}
	return nil
}
