package mpi

import (
	"sync"

	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
)

// NewTypeOp is NewOp for elements as a datatype lays them out in memory, which is MPI's form
// (MPI_Op_create, MPI-4.0 §6.9.5): f sets each element of inout to in ⊕ inout. It is for the
// calls that take Bufs, of any type: t is that of the Bufs of the call, and at all ranks the
// type has to be the same. in is the operand of lower ranks.
//
// in and inout have n elements each, n is at least 1, and are the bytes from the lowest one
// to the highest one that those touch. So displacement 0 of the first element is −lb bytes
// behind the beginning, where lb is that of TrueExtent, if the extent is not negative. Its
// address is a multiple of the largest power of two that divides the extent, up to 16, which
// suits what C and Go have at such places. What lies between the elements is undefined in
// in, and not kept of inout.
//
// A call may pass any part of the ranks' elements. f keeps neither slice and does not write
// to in. What NewOp says of f and of panics holds here too. Calls that use an operator whose
// f is nil fail with ErrOp. Local.
func NewTypeOp(f func(in, inout []byte, n int, t *Datatype), opts ...OpOption) *Op {
	return (*Op)(op.Custom("of NewTypeOp", commutes(opts), typeOp(f), nil))
}

// typeOp is the function of an operator of NewTypeOp.
type typeOp func(in, inout []byte, n int, t *Datatype)

func (typeOp) String() string { return "elements of any type, in Bufs" }

// ofTypes stands for the kind of what operators of NewTypeOp combine.
const ofTypes op.Kind = 254

// on is Op.on for such an operator and a Buf with elements of type d.
func (f typeOp) on(call, arg string, d *Datatype) (x combining, err error) {
	size := d.t.Size()
	_, each := d.t.TrueExtent()
	switch {
	case f == nil:
		return x, badArg(call, ErrOp, "%s: the operator has no function for elements of this type", arg)
	case size == 0:
		return combining{elem: 1, align: 1}, nil
	case each > mostUnpacked:
		return x, badArg(call, ErrOp, "%s: an element reaches over %d bytes of memory, and the operator needs so many for a copy: they can be %d", arg, each, mostUnpacked)
	}
	return combining{newTyped(f, d).combine, size, 1, ofTypes}, nil
}

// typed is how a function combines packed elements of a type.
type typed struct {
	f      typeOp
	d      *Datatype
	size   int // bytes of an element, packed
	align  uintptr
	most   int // elements that are unpacked at a time
	lo, hi int // the bytes that so many touch
}

// typePiece is how many bytes of memory elements are unpacked to at a time, unless one has
// more.
const typePiece = 64 << 10

func newTyped(f typeOp, d *Datatype) *typed {
	x := &typed{f: f, d: d, size: d.t.Size(), most: 1}
	_, extent := d.t.Extent()
	_, each := d.t.TrueExtent()
	x.align = min(uintptr(extent&-extent), mostAlign)
	if extent == 0 {
		x.align = mostAlign
	}
	if each = max(each, extent, -extent); each < typePiece {
		x.most = typePiece / each
	}
	x.lo, x.hi, _ = d.t.Span(x.most) // no more than there is in the room
	return x
}

// mostAlign is the alignment of the memory that elements are unpacked to.
const mostAlign = 16

// mostUnpacked is how far apart the bytes of an element may be, which has to be unpacked.
const mostUnpacked = 1 << 31

// combine is the operator's function of package op. Elements without gaps are combined where
// they are; the others are unpacked, and their results packed.
func (x *typed) combine(lower, upper, to []byte) {
	n := len(to) / x.size
	if n == 0 {
		return
	}
	r := rooms.Get().(*[2]operand)
	in, inout := x.inMemory(lower), x.inMemory(to) && &to[0] != &lower[0]
	k := x.most
	if in && inout {
		k = n
	}
	for ; n > 0; n -= k {
		k = min(k, n)
		bytes := k * x.size
		a, b := lower[:bytes], to[:bytes]
		if !in {
			a = r[0].unpack(x, a, k)
		}
		if inout {
			copy(b, upper)
		} else {
			b = r[1].unpack(x, upper[:bytes], k)
		}
		if x.f(a, b, k, x.d); !inout {
			r[1].at.Seek(0)
			r[1].at.Pack(to[:bytes])
		}
		lower, upper, to = lower[bytes:], upper[bytes:], to[bytes:]
	}
	rooms.Put(r) // not after a panic
}

// inMemory reports whether packed elements are just what they are in memory.
func (x *typed) inMemory(packed []byte) bool {
	return x.d.t.Dense() && (addressOf(packed)-uintptr(x.lo))%x.align == 0
}

// operand is memory of elements.
type operand struct {
	room []byte
	at   datatype.Cursor
}

// unpack is the memory of k packed elements.
func (u *operand) unpack(x *typed, packed []byte, k int) []byte {
	pad := x.lo & (mostAlign - 1) // displacement 0 is aligned
	if need := max(typePiece, x.hi-x.lo) + mostAlign; len(u.room) < need {
		u.room = make([]byte, need)
	}
	lo, hi, _ := x.d.t.Span(k)
	mem := u.room[pad:][lo-x.lo : hi-x.lo]
	_ = u.at.ResetSpan(x.d.t, k, mem) // there is room for k
	u.at.Unpack(packed)
	return mem
}

// rooms has room for the two operands.
var rooms = sync.Pool{New: func() any { return new([2]operand) }}
