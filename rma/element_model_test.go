package rma

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	ops "github.com/weft-mpi/weft/internal/op"
)

// The naive model of accumulate operations: one element at a time, in the widest type
// there is.

var native = binary.NativeEndian

func rawBits(e []byte) uint64 {
	switch len(e) {
	case 1:
		return uint64(e[0])
	case 2:
		return uint64(native.Uint16(e))
	case 4:
		return uint64(native.Uint32(e))
	}
	return native.Uint64(e)
}

func setBits(e []byte, v uint64) {
	switch len(e) {
	case 1:
		e[0] = byte(v)
	case 2:
		native.PutUint16(e, uint16(v))
	case 4:
		native.PutUint32(e, uint32(v))
	default:
		native.PutUint64(e, v)
	}
}

func floatIn(e []byte) float64 {
	if len(e) == 4 {
		return float64(math.Float32frombits(native.Uint32(e)))
	}
	return math.Float64frombits(native.Uint64(e))
}

func setFloat(e []byte, v float64) {
	if len(e) == 4 {
		native.PutUint32(e, math.Float32bits(float32(v)))
	} else {
		native.PutUint64(e, math.Float64bits(v))
	}
}

// naive sets dst to dst ⊕ operands, and returns what it was.
func naive(c ops.Code, k ops.Kind, dst, operands []byte) (old []byte) {
	old = append(old, dst...)
	size := k.Size()
	for i := 0; i < len(dst); i += size {
		var b []byte
		a := dst[i : i+size]
		if c != ops.CodeNoOp {
			b = operands[i : i+size]
		}
		h := size / 2
		switch {
		case c == ops.CodeNoOp:
		case c == ops.CodeReplace:
			copy(a, b)
		case k == ops.Complex64 || k == ops.Complex128:
			x, y, u, v := floatIn(a[:h]), floatIn(a[h:]), floatIn(b[:h]), floatIn(b[h:])
			if c == ops.CodeSum {
				setFloat(a[:h], x+u)
				setFloat(a[h:], y+v)
			} else {
				setFloat(a[:h], float64(x*u)-float64(y*v))
				setFloat(a[h:], float64(x*v)+float64(y*u))
			}
		case k == ops.Float32 || k == ops.Float64:
			setFloat(a, naiveFloat(c, floatIn(a), floatIn(b)))
		case k == ops.Int8 || k == ops.Int16 || k == ops.Int32 || k == ops.Int64:
			unused := 64 - 8*size
			signed := func(e []byte) int64 { return int64(rawBits(e)<<unused) >> unused }
			setBits(a, uint64(naiveInt(c, signed(a), signed(b))))
		default:
			setBits(a, naiveInt(c, rawBits(a), rawBits(b)))
		}
	}
	return old
}

func naiveInt[T int64 | uint64](c ops.Code, x, y T) T {
	is := map[bool]T{true: 1}
	switch c {
	case ops.CodeSum:
		return x + y
	case ops.CodeProd:
		return x * y
	case ops.CodeMax:
		if x < y {
			return y
		}
		return x
	case ops.CodeMin:
		if x > y {
			return y
		}
		return x
	case ops.CodeLAnd:
		return is[x != 0 && y != 0]
	case ops.CodeLOr:
		return is[x != 0 || y != 0]
	case ops.CodeLXor:
		return is[(x != 0) != (y != 0)]
	case ops.CodeBAnd:
		return x & y
	case ops.CodeBOr:
		return x | y
	}
	return x ^ y
}

// naiveFloat serves float32, too: sums and products are rounded right if they are
// rounded to float64 first.
func naiveFloat(c ops.Code, x, y float64) float64 {
	first := x > y || x == y && !math.Signbit(x)
	switch {
	case c == ops.CodeSum:
		return x + y
	case c == ops.CodeProd:
		return x * y
	case x != x || y != y:
		return math.NaN()
	case first == (c == ops.CodeMax):
		return x
	}
	return y
}

// sameElements compares results. The bits of NaNs that Sum and Prod give are not
// fixed.
func sameElements(c ops.Code, k ops.Kind, got, want []byte) bool {
	part := map[ops.Kind]int{ops.Float32: 4, ops.Complex64: 4, ops.Float64: 8, ops.Complex128: 8}[k]
	if part == 0 || c != ops.CodeSum && c != ops.CodeProd {
		return string(got) == string(want)
	}
	for i := 0; i < len(got); i += part {
		g, w := got[i:i+part], want[i:i+part]
		if x, y := floatIn(g), floatIn(w); string(g) != string(w) && (x == x || y == y) {
			return false
		}
	}
	return true
}

// randomElements are n of a kind, half of them special.
func randomElements(r *rand.Rand, k ops.Kind, n int) []byte {
	part := k.Size()
	if k == ops.Complex64 || k == ops.Complex128 {
		part /= 2
	}
	e := alignedBytes(n * k.Size())
	for i := 0; i < len(e); i += part {
		v := r.Uint64()
		switch {
		case k == ops.Bool:
			v %= 2
		case r.IntN(2) == 0:
		case k < ops.Float32:
			v = []uint64{0, 1, math.MaxUint64, 1 << (8*part - 1), 1<<(8*part-1) - 1}[r.IntN(5)]
		case part == 4:
			v = []uint64{0, 1 << 31, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, 0xFFC0_0000, 0x7F80_0001, 0x3FC0_0000}[r.IntN(8)]
		default:
			v = []uint64{0, 1 << 63, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8<<48 + 2, 0xFFF8 << 48, 0x7FF0<<48 + 1, 0x3FF8 << 48}[r.IntN(8)]
		}
		setBits(e[i:i+part], v)
	}
	return e
}
