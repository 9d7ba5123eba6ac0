package mpi

import (
	"reflect"
	"sync"

	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
)

// NewStructOp is NewOp for structs and arrays without pointers (MPI_Op_create, MPI-4.0
// §6.9.5), those of TypeOf[T]. It is for the calls that take Bufs, such as those of
// OfStructs: of any type whose basic elements are those of T, again and again. Fields that
// are not sent, and padding, are zero in what f gets. f is used as NewOp's function is.
// If T can't be sent, calls that use the operator fail with ErrOp. Local.
func NewStructOp[T any](f func(lower, upper T) T, opts ...OpOption) *OpOf[T] {
	s := &structs{name: reflect.TypeFor[T]().String(), t: datatype.Of(datatype.Byte)}
	t, err := datatype.TypeOf[T]()
	switch {
	case err != nil:
		s.err = err
	case t.Size() == 0:
		s.err = errNoData
	default:
		s.t = t
	}
	var combine op.Func
	if f != nil && s.err == nil {
		combine = structFunc(s.t, f)
	}
	return (*OpOf[T])(op.Custom("of NewStructOp", commutes(opts), s, combine))
}

var errNoData = badArg("NewStructOp", ErrType, "the type has no fields that are sent")

// structs is what an operator of NewStructOp combines.
type structs struct {
	name string
	t    *datatype.Type
	err  error // why it can't
}

func (s *structs) String() string { return "structs of type " + s.name + ", in Bufs" }

// structPiece is how many bytes of structs are unpacked at a time.
const structPiece = 8 << 10

// structFunc applies f to packed structs of type t. Where these are just what they are
// in memory, f gets them from there.
func structFunc[T any](t *datatype.Type, f func(lower, upper T) T) op.Func {
	pool := sync.Pool{New: func() any { return newUnpacked[T](t) }}
	return func(lower, upper, to []byte) {
		if t.Dense() {
			a, b, c := inMemory[T](lower), inMemory[T](upper), inMemory[T](to)
			if a != nil && b != nil && c != nil {
				for i := range c {
					c[i] = f(a[i], b[i])
				}
				return
			}
		}
		u := pool.Get().(*unpacked[T])
		u.combine(lower, upper, to, f)
		pool.Put(u) // not after a panic
	}
}

// unpacked is room for some structs: operands, and results. What is not sent of the
// operands stays zero.
type unpacked[T any] struct {
	t       *datatype.Type
	a, b, c []T
}

func newUnpacked[T any](t *datatype.Type) *unpacked[T] {
	n := max(structPiece/t.Size(), 1)
	return &unpacked[T]{t, make([]T, n), make([]T, n), make([]T, n)}
}

func (u *unpacked[T]) combine(lower, upper, to []byte, f func(lower, upper T) T) {
	size := u.t.Size()
	for n := len(to) / size; n > 0; {
		k := min(n, len(u.c))
		bytes := k * size
		_, _ = datatype.Unpack(u.t, k, memoryOf(u.a), 0, lower, 0) // there is room for k
		_, _ = datatype.Unpack(u.t, k, memoryOf(u.b), 0, upper, 0)
		for i := range k {
			u.c[i] = f(u.a[i], u.b[i])
		}
		_, _ = datatype.Pack(u.t, k, memoryOf(u.c), 0, to, 0)
		lower, upper, to, n = lower[bytes:], upper[bytes:], to[bytes:], n-k
	}
}
