package rma

import (
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
)

// Pairs of a value and an index (MPI-4.0 §6.9.4) are elements of accumulates, too. They
// have padding in memory, and no instruction changes one at once: so the owner of the
// target's loop changes them, for everybody, and operators get them packed.

// isPair reports whether a kind is one of pairs. The numbers are those of package datatype.
func isPair(k op.Kind) bool {
	_, _, _, pair := datatype.Kind(k).Pair()
	return pair
}

// sizeOfKind is the number of bytes of data in an element, 0 of an unknown kind.
func sizeOfKind(k op.Kind) int { return datatype.Kind(k).Size() }

// FitsPairs reports whether an operator is one for pairs of a kind. Local.
func FitsPairs(c op.Code, k op.Kind) bool {
	switch {
	case !isPair(k):
		return false
	case c == op.CodeReplace || c == op.CodeNoOp:
		return true
	}
	o := c.Op()
	if o == nil {
		return false
	}
	_, err := o.Func(k)
	return err == nil
}

// morePairs is how many bytes of pairs are combined at a time.
const morePairs = 12 * 64

// combinePairs combines the next pairs of a cursor, as many as there are operands or old
// elements, and moves the cursor behind them. For the owner of the loop.
func combinePairs(c op.Code, k op.Kind, to *datatype.Cursor, operands, old []byte) {
	var was, now [morePairs]byte
	size := sizeOfKind(k)
	for left := max(len(operands), len(old)); left > 0; {
		at, n := to.Pos(), min(left, morePairs/size*size)
		to.Pack(was[:n])
		if old != nil {
			copy(old, was[:n])
			old = old[n:]
		}
		switch c {
		case op.CodeNoOp:
		case op.CodeReplace:
			to.Seek(at)
			to.Unpack(operands[:n])
		default:
			if f, err := c.Op().Func(k); err == nil { // as FitsPairs has found
				f(was[:n], operands[:n], now[:n])
				to.Seek(at)
				to.Unpack(now[:n])
			}
		}
		if c != op.CodeNoOp {
			operands = operands[n:]
		}
		left -= n
	}
}

// accumulatePairs is accumulate of pairs, for the owner.
func (s *sides) accumulatePairs(x *Typed) {
	var from, into [morePairs]byte
	most := morePairs / sizeOfKind(x.Kind) * sizeOfKind(x.Kind)
	for s.to.Len() > 0 {
		n := min(s.to.Len(), most)
		var operands, old []byte
		if x.Src.Type != nil {
			operands = from[:n]
			s.src.Pack(operands)
		}
		if x.Old.Type != nil {
			old = into[:n]
		}
		combinePairs(x.Code, x.Kind, &s.to, operands, old)
		s.old.Unpack(old)
	}
}
