package op_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/internal/op"
	_ "github.com/weft-mpi/weft/internal/testkit/tier"
)

// The model computes one element at a time, in the widest type there is, from
// MPI's table and what package op fixes for NaN, −0 and complex products.

var order = binary.NativeEndian

// rawBits is an element's memory as a number.
func rawBits(e []byte) uint64 {
	switch len(e) {
	case 1:
		return uint64(e[0])
	case 2:
		return uint64(order.Uint16(e))
	case 4:
		return uint64(order.Uint32(e))
	default:
		return order.Uint64(e)
	}
}

func appendBits(to []byte, size int, v uint64) []byte {
	switch size {
	case 1:
		return append(to, byte(v))
	case 2:
		return order.AppendUint16(to, uint16(v))
	case 4:
		return order.AppendUint32(to, uint32(v))
	default:
		return order.AppendUint64(to, v)
	}
}

func floatOf(e []byte) float64 {
	if len(e) == 4 {
		return float64(math.Float32frombits(order.Uint32(e)))
	}
	return math.Float64frombits(order.Uint64(e))
}

func appendFloat(to []byte, size int, v float64) []byte {
	if size == 4 {
		return order.AppendUint32(to, math.Float32bits(float32(v)))
	}
	return order.AppendUint64(to, math.Float64bits(v))
}

func model(o *op.Op, k op.Kind, lower, upper []byte) (to []byte) {
	size := k.Size()
	for i := 0; i < len(lower); i += size {
		a, b := lower[i:i+size], upper[i:i+size]
		if _, ok := pairs[k]; ok {
			to = append(to, modelPair(o, k, a, b)...)
			continue
		}
		switch k {
		case op.Float32, op.Float64:
			to = appendFloat(to, size, modelFloat(o, floatOf(a), floatOf(b)))
		case op.Complex64, op.Complex128:
			h := size / 2
			re, im := modelComplex(o, floatOf(a[:h]), floatOf(a[h:]), floatOf(b[:h]), floatOf(b[h:]))
			to = appendFloat(appendFloat(to, h, re), h, im)
		case op.Int8, op.Int16, op.Int32, op.Int64:
			unused := 64 - 8*size
			x, y := int64(rawBits(a)<<unused)>>unused, int64(rawBits(b)<<unused)>>unused
			to = appendBits(to, size, uint64(modelInt(o, x, y)))
		default:
			to = appendBits(to, size, modelInt(o, rawBits(a), rawBits(b)))
		}
	}
	return to
}

func modelInt[T int64 | uint64](o *op.Op, x, y T) T {
	is := map[bool]T{true: 1}
	switch o {
	case op.Sum:
		return x + y
	case op.Prod:
		return x * y
	case op.Max:
		if x > y {
			return x
		}
		return y
	case op.Min:
		if x < y {
			return x
		}
		return y
	case op.LAnd:
		return is[x != 0 && y != 0]
	case op.LOr:
		return is[x != 0 || y != 0]
	case op.LXor:
		return is[(x != 0) != (y != 0)]
	case op.BAnd:
		return x & y
	case op.BOr:
		return x | y
	case op.BXor:
		return x ^ y
	}
	panic("no operator")
}

// modelFloat serves float32, too: a sum or product of two of them is rounded right
// if it is rounded to float64 first, whose significand is more than twice as long.
func modelFloat(o *op.Op, x, y float64) float64 {
	either := func(mine bool) float64 {
		switch {
		case x != x || y != y:
			return math.NaN()
		case mine:
			return x
		default:
			return y
		}
	}
	switch o {
	case op.Sum:
		return x + y
	case op.Prod:
		return x * y
	case op.Max:
		return either(x > y || x == y && !math.Signbit(x))
	case op.Min:
		return either(x < y || x == y && math.Signbit(x))
	}
	panic("no operator")
}

func modelComplex(o *op.Op, a, b, c, d float64) (re, im float64) {
	if o == op.Sum {
		return a + c, b + d
	}
	ac, bd, ad, bc := a*c, b*d, a*d, b*c
	return float64(ac) - float64(bd), float64(ad) + float64(bc)
}

// parts is the size of what a NaN can be in: half a complex number.
func parts(k op.Kind) int {
	switch k {
	case op.Float32, op.Complex64:
		return 4
	case op.Float64, op.Complex128:
		return 8
	}
	return 0
}

// canonical is got, with the NaNs of want where both have one: the bits of those
// that Sum and Prod give are not fixed.
func canonical(o *op.Op, k op.Kind, got, want []byte) []byte {
	got = append([]byte(nil), got...)
	if p := parts(k); p > 0 && (o == op.Sum || o == op.Prod) {
		for i := 0; i < len(got); i += p {
			if x, y := floatOf(got[i:i+p]), floatOf(want[i:i+p]); x != x && y != y {
				copy(got[i:i+p], want[i:i+p])
			}
		}
	}
	return got
}

// specials are floats with rules of their own, for both sizes.
var specials = []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(),
	math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1.5, math.Pi}

// nans are NaNs with a sign, a payload, or both, or signaling.
var nans = map[int][]uint64{4: {0x7FC00001, 0xFFC00000, 0x7F800001, 0xFFFFFFFF},
	8: {0x7FF8000000000002, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF}}

// from makes elements of a kind from numbers below their bounds: one of three is
// special.
func from(k op.Kind, n int, below func(bound int) int, word func() uint64) []byte {
	p := parts(k)
	if p == 0 {
		p = k.Size()
	}
	e := make([]byte, 0, n*k.Size())
	for len(e) < n*k.Size() {
		if kinds, ok := pairs[k]; ok {
			e = append(append(e, from(kinds[0], 1, below, word)...), from(kinds[1], 1, below, word)...)
			continue
		}
		special := below(3) == 0
		switch {
		case k == op.Bool:
			e = append(e, byte(below(2)))
		case special && parts(k) > 0:
			if i := below(len(specials) + len(nans[p])); i < len(specials) {
				e = appendFloat(e, p, specials[i])
			} else {
				e = appendBits(e, p, nans[p][i-len(specials)])
			}
		case special:
			e = appendBits(e, p, []uint64{0, 1, math.MaxUint64, 1 << (8*p - 1), 1<<(8*p-1) - 1}[below(5)])
		default:
			e = appendBits(e, p, word())
		}
	}
	// The kernels want elements that are aligned.
	a := aligned(len(e))
	copy(a, e)
	return a
}

func random(r *rand.Rand, k op.Kind, n int) []byte { return from(k, n, r.IntN, r.Uint64) }

func drawn(t *rapid.T, k op.Kind, n int, label string) []byte {
	return from(k, n, func(bound int) int { return rapid.IntRange(0, bound-1).Draw(t, label) },
		func() uint64 { return rapid.Uint64().Draw(t, label) })
}
