package mpi

import (
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
)

// combining is how an operator works on the elements of a Buf.
type combining struct {
	f     op.Func
	elem  int // bytes that it combines, packed
	align int // of their addresses
	kind  op.Kind
}

// ofStructs stands for the kind of what operators of NewStructOp combine.
const ofStructs op.Kind = 255

// on returns how the operator works on the elements of b, the argument arg of call.
func (o *Op) on(call, arg string, b *Buf) (x combining, err error) {
	if o == nil {
		_, err := o.fit(call, 0)
		return x, err
	}
	if _, ok := b.dense(); ok {
		if k, one := b.t.t.Kind(); one && k != datatype.Packed {
			if f, err := (*op.Op)(o).Func(op.Kind(k)); err == nil {
				return combining{f, k.Size(), alignOf(k), op.Kind(k)}, nil
			}
		}
	}
	if (*op.Op)(o).Zero() {
		return x, &Error{Class: ErrOp, Call: call, Err: op.ErrZero}
	}
	if err := b.check(call, arg, false); err != nil || b.t == nil {
		return combining{elem: 1, align: 1}, err
	}
	t := b.t.t
	size, err := t.PackSize(b.n)
	if err != nil {
		return x, &Error{Class: typeClass(err), Call: call, Err: bufError{arg, err}}
	}
	switch of, f := (*op.Op)(o).Custom(); of := of.(type) {
	case *structs:
		return o.onStructs(call, arg, of, f, t, b.n, size)
	case typeOp:
		return of.on(call, arg, b.t)
	}
	k, sole := t.Kind()
	if c := (*op.Op)(o).Code(); c == op.CodeMinLoc || c == op.CodeMaxLoc {
		if p, pairs := t.PairKind(); pairs {
			k = p
		}
	}
	f, err := (*op.Op)(o).Func(op.Kind(k))
	switch {
	case err == nil:
		return combining{f, k.Size(), alignOf(k), op.Kind(k)}, nil
	case t.Size() == 0: // what it would combine is nothing, too
		return combining{elem: 1, align: 1}, nil
	case !sole:
		return x, badArg(call, ErrOp, "%s: the operator %v combines elements of one kind, and these are of several: NewStructOp makes operators of structs", arg, o)
	}
	return x, &Error{Class: ErrOp, Call: call, Err: bufError{arg, err}}
}

// alignOf is the alignment that operators want of a kind, any of pairs.
func alignOf(k datatype.Kind) int {
	if k > datatype.Packed {
		return 1
	}
	return datatype.Of(k).Align()
}

// onStructs is on for an operator of NewStructOp, whose function is f. The Buf has n
// elements of type t and size bytes.
func (o *Op) onStructs(call, arg string, s *structs, f op.Func, t *datatype.Type, n, size int) (x combining, err error) {
	each := s.t.Size()
	switch {
	case s.err != nil:
		return x, badArg(call, ErrOp, "the operator %v can't be used: %w", o, s.err)
	case f == nil:
		return x, badArg(call, ErrOp, "the operator %v can't be used: give it a function that is not nil", o)
	case size%each != 0, t.Sig(n) != s.t.Sig(size/each):
		return x, badArg(call, ErrOp, "%s: its elements are not %v, which the operator %v takes", arg, s, o)
	}
	return combining{f, each, 1, ofStructs}, nil
}

// takeReduction is take for calls that combine elements by o, and returns their kind.
// names are those of the arguments.
func (x *operation) takeReduction(call string, o *Op, names [2]string, send, recv *Buf, sends, recvs bool) (op.Kind, error) {
	x.begins(send, recv)
	sends, recvs = sends && !x.here, recvs && !x.instead
	if sends && recvs && o != nil {
		if k, ok := x.takeDense(o, send, recv); ok {
			return k, nil
		}
	}
	how := combining{elem: 1, align: 1}
	for i, b := range [...]*Buf{send, recv} {
		if i == 0 && !sends || i == 1 && !recvs {
			continue
		}
		this, err := o.on(call, names[i], b)
		switch {
		case err != nil:
			return 0, err
		case how.kind == 0:
			how = this
		case this.kind != 0 && this.kind != how.kind:
			return 0, badArg(call, ErrType, "%s has elements of %v, %s of %v", names[0], how.kind, names[1], this.kind)
		case this.kind != 0 && this.elem != how.elem:
			return 0, badArg(call, ErrType, "%s has elements of %d bytes, %s of %d: the operator combines those of one type", names[0], how.elem, names[1], this.elem)
		}
	}
	x.o.Combine, x.o.Elem = how.f, how.elem
	if sends {
		n, err := x.memory(call, names[0], send, false, how.align)
		if err != nil {
			return 0, err
		}
		x.sends, x.sendUnit = n/how.elem, unitOf(send, how.elem)
	}
	if recvs {
		n, err := x.memory(call, names[1], recv, true, how.align)
		if err != nil {
			return 0, err
		}
		x.recvs, x.recvUnit = n/how.elem, unitOf(recv, how.elem)
	}
	return how.kind, nil
}

// takeDense is takeReduction for two Bufs of one type that are ranges of elements of one
// kind, or returns false.
func (x *operation) takeDense(o *Op, send, recv *Buf) (op.Kind, bool) {
	in, dense := send.dense()
	out, both := recv.dense()
	if !dense || !both || send.t.t != recv.t.t {
		return 0, false
	}
	k, one := send.t.t.Kind()
	if !one || k == datatype.Packed || !aligned(in, alignOf(k)) || !aligned(out, alignOf(k)) {
		return 0, false
	}
	f, err := (*op.Op)(o).Func(op.Kind(k))
	if err != nil {
		return 0, false
	}
	elem, unit := k.Size(), 1
	if size := send.t.t.Size(); size != elem { // a division takes as long as much of the call
		unit = size / elem
	}
	x.o.In, x.o.Out, x.o.Combine, x.o.Elem = in, out, f, elem
	x.sends, x.recvs, x.sendUnit, x.recvUnit = send.n*unit, recv.n*unit, unit, unit
	return op.Kind(k), true
}

// unitOf is how many elements of elem bytes there are in as few whole elements of b as
// there can be.
func unitOf(b *Buf, elem int) int {
	size := b.bytesEach()
	if size == elem {
		return 1
	}
	a, rest := size, elem
	for rest > 0 {
		a, rest = rest, a%rest
	}
	return size / a
}

// Loc is a value and where it is, for MinLoc and MaxLoc. OfStructs makes a Buf of them.
// Its type is TypeDoubleInt for float64, and MPI's other pairs for the other types; any
// struct of two such fields does as well.
type Loc[T ~int16 | ~int32 | ~int64 | ~int | ~float32 | ~float64] struct {
	Value T
	Index int32
}

// localPiece is how much of a Buf that is not one range ReduceLocal packs at a time, in
// bytes.
const localPiece = 16 << 10

// ReduceLocal sets each element of inout to in ⊕ inout (MPI_Reduce_local, MPI-4.0
// §6.9.7). in has the operands of lower ranks. The two have as many basic elements, of the
// same kinds, and do not overlap. It calls no other rank, and lets a panic of the
// program's own operator pass. Errors are those of the function ReduceLocal and of the
// Bufs, and ErrType if they have elements of other kinds. Local.
func (o *Op) ReduceLocal(in, inout Buf) error {
	const call = "Op.ReduceLocal"
	var x operation
	if in.inPlace() || inout.inPlace() {
		return raiseSelf(badArg(call, ErrBuffer, "BufInPlace is no buffer: in and inout have to be two"))
	}
	_, err := x.takeReduction(call, o, [2]string{"in", "inout"}, &in, &inout, true, true)
	switch {
	case err != nil:
		return raiseSelf(err)
	case x.sends != x.recvs:
		return raiseSelf(badArg(call, ErrCount, "in has %d elements that are combined, inout %d", x.sends, x.recvs))
	case x.meet(one(x.sends), one(x.recvs)):
		return raiseSelf(badArg(call, ErrBuffer, "in and inout overlap: they have to be two buffers"))
	}
	n := x.sends * x.o.Elem
	piece := n
	if x.o.Gaps != nil {
		piece = max(localPiece/x.o.Elem, 1) * x.o.Elem
	}
	var g comm.Gaps
	if x.o.Gaps != nil {
		g = *x.o.Gaps
	}
	var a, b []byte
	for at := 0; at < n; at += piece {
		m := min(piece, n-at)
		a, b = packed(x.o.In, g.In, at, m, a), packed(x.o.Out, g.Out, at, m, b)
		if x.o.Combine(a, b, b); g.Out != nil {
			g.Out.Unpack(b, at)
		}
	}
	return nil
}

// packed is n bytes of an operand from at on, which are copied to room if it has gaps.
func packed(mem []byte, g comm.Gapped, at, n int, room []byte) []byte {
	if g == nil {
		return mem[at : at+n]
	}
	if room == nil {
		room = make([]byte, n)
	}
	g.Pack(room[:n], at)
	return room[:n]
}
