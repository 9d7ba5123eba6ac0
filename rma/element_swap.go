package rma

import (
	"bytes"
	"fmt"

	ops "github.com/weft-mpi/weft/internal/op"
)

// CompareError is the error of a CompareAndSwap of elements that can't be compared
// bit by bit.
type CompareError struct{ Kind ops.Kind }

func (e *CompareError) Error() string {
	return fmt.Sprintf("CompareAndSwap is not defined for %v: it takes bool and integers", e.Kind)
}

// comparesBits returns a *CompareError for what CompareAndSwap does not take (MPI-4.0
// §12.3.4): all but logical elements and integers, of which a byte is one.
func comparesBits(k ops.Kind) error {
	if k < ops.Bool || k > ops.Uint64 {
		return &CompareError{k}
	}
	return nil
}

// compareAndSwap sets old to the element dst and, if that is compare, sets it to
// value, atomically. All have the kind's size; the kind is comparesBits. Only dst, which
// does not need the owner, is shared. No slice is kept.
func compareAndSwap(k ops.Kind, dst, compare, value, old []byte) {
	switch k.Size() {
	case 8:
		putWord(old, compareAndSwapWord(&wordsOf[uint64](dst)[0], getWord[uint64](compare), getWord[uint64](value)))
	case 4:
		putWord(old, compareAndSwapWord(&wordsOf[uint32](dst)[0], getWord[uint32](compare), getWord[uint32](value)))
	default:
		r := partRunIn(dst)
		mask := r.mask()
		expect, v := getPart(compare)<<r.shift, getPart(value)<<r.shift
		was := loadWord(r.word)
		for was&mask == expect && !casWord(r.word, was, was&^mask|v) {
			was = loadWord(r.word)
		}
		putPart(old, was&mask>>r.shift)
	}
}

func compareAndSwapWord[W word](p *W, expect, v W) (was W) {
	for {
		if casWord(p, expect, v) {
			return expect
		}
		// It may have become the expected one by now.
		if was = loadWord(p); was != expect {
			return was
		}
	}
}

// compareAndSwapOwned is compareAndSwap for the owner: an
// element at any address.
func compareAndSwapOwned(dst, compare, value, old []byte) {
	copy(old, dst)
	if bytes.Equal(old, compare) {
		copy(dst, value)
	}
}
