package mpi

import (
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// Buf is what an operation reads or writes: memory, the type of the elements there, and
// how many there are. It is a small value, which keeps its memory reachable. Of makes one
// of a slice of scalars, OfStructs one of a slice of structs, As one of any datatype, and
// the views Strided, Subarray and Indexed one of a part of a slice.
//
// The methods of Comm take Bufs; each does what the function of its name does with a
// slice. A Buf that can't be used, because a view is outside of its slice for instance,
// is refused by the operation, which has done nothing then.
//
// The memory belongs to the library from the call to the completion of the operation, as
// with slices; of a receive that is all of it that the elements touch. Padding and what
// lies between elements is neither sent nor written to. The zero Buf has no elements.
type Buf struct {
	mem    []byte
	t      *Datatype
	n      int // elements
	origin int // where displacement 0 lies in mem
}

// BufInPlace is InPlace as a Buf (MPI_IN_PLACE, MPI-4.0 §6.2.1).
var BufInPlace = Buf{t: &Datatype{bad: errInPlace}}

var errInPlace = badArg("Buf", ErrBuffer, "BufInPlace stands for a buffer of a collective call only, where that call says so")

func (b *Buf) inPlace() bool { return b.t == BufInPlace.t }

// Of is all elements of a slice. Local.
func Of[T Scalar](s []T) Buf {
	if isInPlace(s) {
		return BufInPlace
	}
	return Buf{mem: bytesOf(s), t: kinds[op.KindOf[T]()], n: len(s)}
}

// OfStructs is all elements of a slice of structs, or of arrays, that hold no pointers:
// those of TypeOf[T]. Local.
func OfStructs[T any](s []T) Buf {
	d, err := typeOf[T]()
	if err != nil {
		return badBuf(err)
	}
	return Buf{mem: memoryOf(s), t: d, n: len(s)}
}

// As is count elements of type d in the memory of s. Displacement 0 is the first byte of s.
// T holds no pointers, and need not be the type of d's elements. Local.
func As[T any](d *Datatype, s []T, count int) Buf {
	if err := d.refuse("As"); err != nil {
		return badBuf(err)
	}
	if _, err := datatype.TypeOf[T](); err != nil {
		return badBuf(typeFailure("As", err))
	}
	return Memory(d, memoryOf(s), count, 0)
}

// Memory is count elements of type d in mem, with displacement 0 at byte origin of it: As
// for memory that has no Go type, such as another language's. Local.
func Memory(d *Datatype, mem []byte, count, origin int) Buf {
	if d.usable() != nil {
		return badBuf(d.refuse("Memory"))
	}
	return Buf{mem: mem, t: d, n: count, origin: origin}
}

// At is b with displacement 0 so many bytes further on in its memory, which may also be
// negative: for types with negative displacements, and for parts of a buffer. Local.
func (b Buf) At(offset int) Buf {
	if b.t != nil && b.t.bad == nil {
		b.origin += offset
	}
	return b
}

// Count is how many elements b has. Local.
func (b Buf) Count() int { return b.n }

// Type is the type of b's elements, or nil if b has none, as the zero Buf and those that
// can't be used. Local.
func (b Buf) Type() *Datatype {
	if b.t == nil || b.t.bad != nil {
		return nil
	}
	return b.t
}

// Err is why b can't be used, or nil. Each operation checks this. It is ErrType for a
// type that is freed, not committed or none, ErrCount for a count that is negative or
// too large, ErrBuffer for elements outside of the memory, and ErrArg for a view that
// is not in its slice. Local.
func (b Buf) Err() error {
	if b.inPlace() {
		return nil
	}
	return b.check("Buf.Err", "b", false)
}

// badBuf is a Buf that every operation refuses with err.
func badBuf(err error) Buf { return Buf{t: &Datatype{bad: err}} }

// mostBytes is how many bytes the elements of a Buf may have. Only such as overlap have more
// than their memory: no rank could receive these, nor could any memory hold a copy of them.
const mostBytes = 1 << 47

// check is why the operation call can't use b, its argument arg, or nil. into says that it
// would write there.
func (b *Buf) check(call, arg string, into bool) error {
	switch {
	case b.t == nil:
		return nil
	case b.t.bad != nil:
		return &Error{Class: classOf(b.t.bad), Call: call, Err: bufError{arg, b.t.bad}}
	case b.t.freed.Load():
		return badArg(call, ErrType, "%s: %w", arg, errFreedType)
	case !b.t.t.Committed():
		return badArg(call, ErrType, "%s: %w", arg, datatype.ErrNotCommitted)
	case b.n < 0:
		return badArg(call, ErrCount, "%s: it has %d elements", arg, b.n)
	}
	lo, hi, err := b.t.t.Span(b.n)
	switch {
	case err != nil:
		return &Error{Class: typeClass(err), Call: call, Err: bufError{arg, err}}
	case b.origin < 0 || b.origin > len(b.mem):
		return badArg(call, ErrBuffer, "%s: displacement 0 is at byte %d of its memory, which has %d", arg, b.origin, len(b.mem))
	case lo < -b.origin || hi > len(b.mem)-b.origin:
		return badArg(call, ErrBuffer, "%s: its %d elements touch the bytes from %d to %d behind displacement 0, the memory has those from %d to %d",
			arg, b.n, lo, hi, -b.origin, len(b.mem)-b.origin)
	case b.t.t.Size() > 0 && b.n > mostBytes/b.t.t.Size():
		return badArg(call, ErrCount, "%s: its %d elements of %d bytes have more bytes than any memory, as they overlap", arg, b.n, b.t.t.Size())
	}
	if into {
		if overlaps, _ := b.t.t.Overlaps(b.n); overlaps {
			return badArg(call, ErrType, "%s: some of its elements overlap, so that nothing can be received into it", arg)
		}
	}
	return nil
}

// bufError is what is wrong with an argument.
type bufError struct {
	arg string
	err error
}

func (e bufError) Error() string { return e.arg + ": " + e.err.Error() }
func (e bufError) Unwrap() error { return e.err }

// data is b's memory for the operation call, whose argument arg it is; into says that the
// operation writes there. It is bytes wherever the elements are one range of memory.
func (b *Buf) data(call, arg string, into bool) (d pt2pt.Data, err error) {
	if b.t != nil && b.t.t != nil && !b.t.freed.Load() {
		if bytes, ok := b.t.t.Bytes(b.n, b.mem, b.origin); ok {
			return pt2pt.Data{Bytes: bytes}, nil
		}
	}
	if err := b.check(call, arg, into); err != nil {
		return d, err
	}
	return b.memory(), nil
}

// size is how many bytes the elements of a checked Buf have when they are packed.
func (b *Buf) size() int {
	if b.t == nil {
		return 0
	}
	return b.n * b.t.t.Size()
}
