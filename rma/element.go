package rma

import ops "github.com/weft-mpi/weft/internal/op"

// Accumulate operations on elements in window memory (MPI-4.0 §12.3.4 and §12.7.1):
// each element is read and written in one step, as others that do the same see it,
// goroutines and processes alike. Elements of 4 and 8 bytes use the processor's
// instructions where there is one for the operator, else a loop around its
// compare-and-swap. Elements of 1 and 2 bytes do that on the aligned eight bytes
// around them, as many elements at a time as lie there, and put back their neighbors
// only if nobody has changed them. The race detector does not know this: it takes a
// plain store to a neighbor for a race.
//
// An operator is a Code whose Op fits the kind (op.Op.OnWindow). The results are bit
// by bit those of its Func, but for the bits of NaNs from Sum and Prod.

// needsOwner reports whether elements of this size at this address are beyond the
// processor's atomic operations: those of 16 bytes, and those that are not aligned to
// their size. They are for the owner of the loop of their rank.
func needsOwner(size int, addr uintptr) bool {
	return size > 8 || addr&uintptr(size-1) != 0
}

// accumulate sets each element of dst to itself ⊕ that of operands with the same
// place, atomically, and the one of old to what it was. old may be nil. The slices
// are equally long, whole elements; NoOp does not read operands, which may be nil
// then. Only dst, which does not need the owner, is shared. No slice is kept.
func accumulate(c ops.Code, k ops.Kind, dst, operands, old []byte) {
	if c == ops.CodeNoOp && old == nil {
		return
	}
	switch k.Size() {
	case 8:
		accumulateWords[uint64](c, k, dst, operands, old)
	case 4:
		accumulateWords[uint32](c, k, dst, operands, old)
	case 2, 1:
		accumulateParts(c, k, dst, operands, old)
	}
}

// word is an element that the processor has atomic operations for.
type word interface{ uint32 | uint64 }

func accumulateWords[W word](c ops.Code, k ops.Kind, dst, operands, old []byte) {
	all := wordsOf[W](dst)
	for i := range all {
		at := i * sizeOf[W]()
		var x W
		if c != ops.CodeNoOp {
			x = getWord[W](operands[at:])
		}
		if old != nil {
			putWord(old[at:], accumulateWord(c, k, &all[i], x))
			continue
		}
		switch c {
		// Without the result these are one instruction, with it a loop.
		case ops.CodeBAnd:
			andWord(&all[i], x)
		case ops.CodeBOr:
			orWord(&all[i], x)
		default:
			accumulateWord(c, k, &all[i], x)
		}
	}
}

func accumulateWord[W word](c ops.Code, k ops.Kind, p *W, x W) (was W) {
	switch c {
	case ops.CodeSum:
		if k <= ops.Uint64 {
			return addWord(p, x)
		}
	case ops.CodeReplace:
		return swapWord(p, x)
	case ops.CodeNoOp:
		return loadWord(p)
	case ops.CodeBAnd:
		return andWord(p, x)
	case ops.CodeBOr:
		return orWord(p, x)
	}
	for {
		was = loadWord(p)
		// What would not change the element is not stored.
		now := W(combineBits(c, k, uint64(was), uint64(x)))
		if now == was || casWord(p, was, now) {
			return was
		}
	}
}

// accumulateOwned is accumulate for the owner: elements of any
// size at any address.
func accumulateOwned(c ops.Code, k ops.Kind, dst, operands, old []byte) {
	if old != nil {
		copy(old, dst)
	}
	if c == ops.CodeNoOp {
		return
	}
	if c == ops.CodeReplace {
		copy(dst, operands)
		return
	}
	size := k.Size()
	for at := 0; at < len(dst); at += size {
		a, b := dst[at:at+size], operands[at:at+size]
		switch size {
		case 16:
			combineComplex(c, a, b)
		case 8:
			putWord(a, combineBits(c, k, getWord[uint64](a), getWord[uint64](b)))
		case 4:
			putWord(a, uint32(combineBits(c, k, uint64(getWord[uint32](a)), uint64(getWord[uint32](b)))))
		default:
			putPart(a, combineBits(c, k, getPart(a), getPart(b)))
		}
	}
}
