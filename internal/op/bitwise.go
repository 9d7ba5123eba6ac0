package op

import "encoding/binary"

// The bitwise operators do not see the borders of elements, so all kinds are
// combined eight bytes at a time: bitmaps of bytes as fast as any. A [8]byte needs
// no alignment, and the order of its bytes does not matter. T is there for the
// length only.

var words = binary.LittleEndian

func band[T unsigned](lower, upper, to []byte) {
	lower, upper, to = whole[T](lower, upper, to)
	a, b, c := elements[[8]byte](lower, upper, to)
	for i := range c {
		words.PutUint64(c[i][:], words.Uint64(a[i][:])&words.Uint64(b[i][:]))
	}
	for i := 8 * len(c); i < len(to); i++ {
		to[i] = lower[i] & upper[i]
	}
}

func bor[T unsigned](lower, upper, to []byte) {
	lower, upper, to = whole[T](lower, upper, to)
	a, b, c := elements[[8]byte](lower, upper, to)
	for i := range c {
		words.PutUint64(c[i][:], words.Uint64(a[i][:])|words.Uint64(b[i][:]))
	}
	for i := 8 * len(c); i < len(to); i++ {
		to[i] = lower[i] | upper[i]
	}
}

func bxor[T unsigned](lower, upper, to []byte) {
	lower, upper, to = whole[T](lower, upper, to)
	a, b, c := elements[[8]byte](lower, upper, to)
	for i := range c {
		words.PutUint64(c[i][:], words.Uint64(a[i][:])^words.Uint64(b[i][:]))
	}
	for i := 8 * len(c); i < len(to); i++ {
		to[i] = lower[i] ^ upper[i]
	}
}

// whole cuts a Func's operands to the elements that all of them hold whole.
func whole[T unsigned](lower, upper, to []byte) (a, b, c []byte) {
	n := min(len(lower), len(upper), len(to)) &^ (sizeOf[T]() - 1)
	return lower[:n], upper[:n], to[:n]
}
