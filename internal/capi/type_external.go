package capi

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"

	"github.com/weft-mpi/weft/mpi"
)

// external32 of C's types (MPI-5.0 §14.5.2). Package mpi writes all elements as long as they
// are in memory, and raw ones as they are. But a long has 4 bytes there, a wide character 2,
// and a long double is a number of IEEE with 128 bits: such elements are made of what package
// mpi writes, and before it reads.

// field is a basic element that external32 has in another form: so many bytes of package
// mpi's become so many of external32, and back.
type field struct {
	wide, short int
	out, in     func(to, from []byte) (fits bool)
}

var (
	longField  = field{8, 4, narrowed, extended}
	ulongField = field{8, 4, unsignedNarrowed, unsignedExtended}
	wcharField = field{4, 2, unsignedNarrowed, unsignedExtended}
	sameField  = field{4, 4, copied, copied}
	rawInt     = field{4, 4, reversed, reversed}
	rawNumber  = field{16, 16, reversed, reversed}
	longDouble = field{16, 16, toQuad, fromQuad}
)

// fields has the predefined types with such elements.
var fields = map[string][]field{
	"MPI_LONG": {longField}, "MPI_UNSIGNED_LONG": {ulongField}, "MPI_WCHAR": {wcharField}, "MPI_LONG_INT": {longField, sameField},
	"MPI_LONG_DOUBLE": {longDouble}, "MPI_LONG_DOUBLE_INT": {longDouble, rawInt},
	"MPI_C_LONG_DOUBLE_COMPLEX": {longDouble, longDouble}, "MPI_CXX_LONG_DOUBLE_COMPLEX": {longDouble, longDouble},
	"MPI_INTEGER16": {rawNumber}, "MPI_LOGICAL16": {rawNumber}, "MPI_REAL16": {rawNumber}, "MPI_COMPLEX32": {rawNumber, rawNumber},
}

// setExternal sets how many bytes an element has in external32, and whether that is because
// basic elements have another form there.
func (l *layout) setExternal() {
	l.external = l.t.Size()
	if l.predefined != nil {
		l.fields = fields[l.predefined.name]
		for _, f := range l.fields {
			l.external += f.short - f.wide
			l.foreign = true
		}
		return
	}
	for _, p := range l.parts {
		l.foreign = l.foreign || p.foreign
	}
	if l.foreign {
		l.external = 0
		l.blocks(func(p *layout, n int) bool {
			l.external += n * p.external
			return true
		})
	}
}

// each calls visit with the basic elements of n elements, in their order, and with bytes that
// are the same in both forms, until that returns false.
func (l *layout) each(n int, visit func(f *field, bytes int) bool) bool {
	switch {
	case !l.foreign:
		return visit(nil, n*l.t.Size())
	case l.predefined != nil:
		for range n {
			for i := range l.fields {
				if !visit(&l.fields[i], 0) {
					return false
				}
			}
		}
		return true
	}
	more := true
	for i := 0; i < n && more; i++ {
		l.blocks(func(p *layout, k int) bool {
			more = p.each(k, visit)
			return more
		})
	}
	return more
}

// foreignPart is the layout of the type that argument i is if it has elements that external32
// has in another form, or else nil.
func (a *Args) foreignPart(i int) *layout {
	if l, _ := a.part(i); l != nil && l.foreign {
		return l
	}
	return nil
}

// externalSize is how many bytes n elements have in external32, and as package mpi packs them.
func (l *layout) externalSize(n int) (short, wide int, err error) {
	if wide, err = mpi.PackExternalSize(n, l.t); err != nil {
		return 0, 0, err
	}
	return n * l.external, wide, nil
}

// forms checks elements and their place in packed bytes, and returns room for both forms: that
// place, and as much as package mpi packs.
func (l *layout) forms(b mpi.Buf, packed []byte, pos int) (short, wide []byte, err error) {
	if err := b.Err(); err != nil {
		return nil, nil, err
	}
	n, size, err := l.externalSize(b.Count())
	switch {
	case err != nil:
		return nil, nil, err
	case pos < 0 || pos > len(packed):
		return nil, nil, fail(mpi.ErrArg, "position %d is outside of the packed bytes, of which there are %d", pos, len(packed))
	case n > len(packed)-pos:
		return nil, nil, fail(mpi.ErrBuffer, "there are %d bytes from position %d on, the elements have %d", len(packed)-pos, pos, n)
	}
	return packed[pos : pos+n], make([]byte, size), nil
}

// packExternal is mpi.PackExternal for a type with elements of another form.
func (l *layout) packExternal(b mpi.Buf, out []byte, pos int) (next int, err error) {
	short, wide, err := l.forms(b, out, pos)
	if err == nil {
		_, err = mpi.PackExternal(b, wide, 0)
	}
	if err != nil {
		return pos, err
	}
	next = pos + len(short)
	fits := l.each(b.Count(), func(f *field, n int) bool {
		if f == nil {
			copy(short, wide[:n])
			short, wide = short[n:], wide[n:]
			return true
		}
		ok := f.out(short[:f.short], wide[:f.wide])
		short, wide = short[f.short:], wide[f.wide:]
		return ok
	})
	if !fits {
		return pos, fail(mpi.ErrConversion, "a number does not fit in external32, where a long has 4 bytes and a wide character 2")
	}
	return next, nil
}

// unpackExternal is mpi.UnpackExternal for a type with elements of another form.
func (l *layout) unpackExternal(in []byte, pos int, b mpi.Buf) (next int, err error) {
	short, wide, err := l.forms(b, in, pos)
	if err != nil {
		return pos, err
	}
	next, all := pos+len(short), wide
	l.each(b.Count(), func(f *field, n int) bool {
		if f == nil {
			copy(wide, short[:n])
			short, wide = short[n:], wide[n:]
			return true
		}
		f.in(wide[:f.wide], short[:f.short])
		short, wide = short[f.short:], wide[f.wide:]
		return true
	})
	_, err = mpi.UnpackExternal(all, 0, b)
	return next, err
}

func copied(to, from []byte) bool { return copy(to, from) == len(to) }

func reversed(to, from []byte) bool {
	copy(to, from)
	slices.Reverse(to)
	return true
}

// Big-endian integers lose their first bytes, which all are the sign's or 0, or get them.

func narrowed(to, from []byte) bool {
	cut := len(from) - len(to)
	copy(to, from[cut:])
	sign := byte(int8(to[0]) >> 7)
	return !slices.ContainsFunc(from[:cut], func(b byte) bool { return b != sign })
}

func extended(to, from []byte) bool {
	cut := len(to) - len(from)
	for i := range to[:cut] {
		to[i] = byte(int8(from[0]) >> 7)
	}
	return copy(to[cut:], from) == len(from)
}

func unsignedNarrowed(to, from []byte) bool {
	cut := len(from) - len(to)
	copy(to, from[cut:])
	return !slices.ContainsFunc(from[:cut], func(b byte) bool { return b != 0 })
}

func unsignedExtended(to, from []byte) bool {
	clear(to)
	return copy(to[len(to)-len(from):], from) == len(from)
}

// x87 says that a long double has 80 bits in 16 bytes, whose fraction has its integer bit.
// Elsewhere it has the form of external32, but little-endian.
const x87 = runtime.GOARCH == "amd64"

const integerBit = 1 << 63

func toQuad(to, from []byte) bool {
	if !x87 {
		return reversed(to, from)
	}
	mantissa, top := binary.LittleEndian.Uint64(from), uint64(binary.LittleEndian.Uint16(from[8:]))
	if top&math.MaxInt16 == 0 && mantissa&integerBit != 0 {
		top++
	}
	fraction := mantissa &^ integerBit
	binary.BigEndian.PutUint64(to, top<<48|fraction>>15)
	binary.BigEndian.PutUint64(to[8:], fraction<<49)
	return true
}

// fromQuad rounds to the nearest number. One that is none stays none.
func fromQuad(to, from []byte) bool {
	if !x87 {
		return reversed(to, from)
	}
	hi, lo := binary.BigEndian.Uint64(from), binary.BigEndian.Uint64(from[8:])
	top, fraction := hi>>48, hi<<16>>1|lo>>49
	none := top&math.MaxInt16 == math.MaxInt16 && (hi<<16|lo) != 0
	if rest := lo & (1<<49 - 1); !none && (rest > 1<<48 || rest == 1<<48 && fraction&1 != 0) {
		if fraction++; fraction == integerBit {
			fraction = 0
			top++
		}
	}
	switch {
	case none:
		fraction |= integerBit | integerBit>>1
	case top&math.MaxInt16 != 0:
		fraction |= integerBit
	}
	clear(to)
	binary.LittleEndian.PutUint64(to, fraction)
	binary.LittleEndian.PutUint16(to[8:], uint16(top))
	return true
}
