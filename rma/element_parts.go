package rma

import ops "github.com/weft-mpi/weft/internal/op"

// accumulateParts is accumulate for elements of 1 and 2 bytes: those that lie in one
// aligned word of eight bytes at once.
func accumulateParts(c ops.Code, k ops.Kind, dst, operands, old []byte) {
	for at := 0; at < len(dst); {
		r := partRunIn(dst[at:])
		var x uint64
		if c != ops.CodeNoOp {
			x = getPart(operands[at:at+r.n]) << r.shift
		}
		was := r.accumulate(c, k, x)
		if old != nil {
			putPart(old[at:at+r.n], was>>r.shift)
		}
		at += r.n
	}
}

// partRun is elements in a row within an aligned word.
type partRun struct {
	word  *uint64
	n     int  // bytes
	shift uint // of the run in the word, in bits
}

// partRunIn is as much of b as lies in one word.
func partRunIn(b []byte) partRun {
	word, before := wordAround(b)
	n := min(8-before, len(b))
	if bigEndian {
		before = 8 - before - n
	}
	return partRun{word, n, 8 * uint(before)}
}

func (r *partRun) mask() uint64 { return ^uint64(0) >> (64 - 8*uint(r.n)) << r.shift }

// accumulate combines the run with x, which has its operands in place and zeros
// around them, and returns the word that was.
func (r *partRun) accumulate(c ops.Code, k ops.Kind, x uint64) (was uint64) {
	mask := r.mask()
	switch c {
	case ops.CodeNoOp:
		return loadWord(r.word)
	case ops.CodeBAnd:
		return andWord(r.word, x|^mask)
	case ops.CodeBOr:
		return orWord(r.word, x)
	}
	for {
		was = loadWord(r.word)
		now := was&^mask | r.combine(c, k, was, x)&mask
		if now == was || casWord(r.word, was, now) {
			return was
		}
	}
}

// combine combines the run's elements of two words. Around them it may leave
// anything.
func (r *partRun) combine(c ops.Code, k ops.Kind, a, b uint64) (to uint64) {
	size := uint(k.Size())
	switch c {
	case ops.CodeReplace:
		return b
	case ops.CodeBXor:
		return a ^ b
	case ops.CodeSum:
		// The carries out of elements are cut off: the highest bits are added alone.
		high := uint64(0x8080_8080_8080_8080)
		if size == 2 {
			high = 0x8000_8000_8000_8000
		}
		return (a&^high + b&^high) ^ (a^b)&high
	}
	one := uint64(1)<<(8*size) - 1
	for s := r.shift; s < r.shift+8*uint(r.n); s += 8 * size {
		to |= combineBits(c, k, a>>s&one, b>>s&one) << s
	}
	return to
}

// getPart and putPart are up to eight bytes as the low part of a word.

func getPart(b []byte) (v uint64) {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 8:
		return getWord[uint64](b)
	}
	for i := range b {
		v |= uint64(b[i]) << bytePlace(i, len(b))
	}
	return v
}

func putPart(b []byte, v uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 8:
		putWord(b, v)
	default:
		for i := range b {
			b[i] = byte(v >> bytePlace(i, len(b)))
		}
	}
}

// bytePlace is where byte i of n has its bits.
func bytePlace(i, n int) uint {
	if bigEndian {
		return 8 * uint(n-1-i)
	}
	return 8 * uint(i)
}
