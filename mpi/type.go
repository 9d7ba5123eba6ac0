package mpi

import (
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/datatype"
)

// Datatype says where the elements of a message lie in memory, and in which order they
// are sent: MPI_Datatype (MPI-4.0 chapter 5). It is predefined, such as TypeInt32, made
// of a Go type by TypeOf, or made of other types by a constructor such as TypeVector.
//
// A Datatype that a constructor returns is committed before it is used for
// communication (Datatype.Commit); types may be made of it before. What it describes never
// changes, and it is safe for concurrent use. The garbage collector frees it: Free is for
// attributes, whose delete functions it calls.
type Datatype struct {
	t      *datatype.Type
	parts  []*Datatype // those that it was made of, in the order of Contents
	bad    error       // instead of t: why a Buf can't be used
	name   atomic.Pointer[string]
	attrs  attributes[*Datatype]
	freed  atomic.Bool // stored by Free, loaded by whatever is called with the type
	shared bool        // by all that use the Go type, or a view of that shape: it can't be freed
}

// The predefined types (MPI-4.0 §3.2.2). An int has the type TypeInt64, or TypeInt32
// where it has 32 bits.
var (
	TypeBool       = named("MPI_C_BOOL")
	TypeInt8       = named("MPI_INT8_T")
	TypeUint8      = named("MPI_UINT8_T")
	TypeInt16      = named("MPI_INT16_T")
	TypeUint16     = named("MPI_UINT16_T")
	TypeInt32      = named("MPI_INT32_T")
	TypeUint32     = named("MPI_UINT32_T")
	TypeInt64      = named("MPI_INT64_T") // also MPI_AINT, MPI_COUNT, MPI_OFFSET
	TypeUint64     = named("MPI_UINT64_T")
	TypeFloat32    = named("MPI_FLOAT")
	TypeFloat64    = named("MPI_DOUBLE")
	TypeComplex64  = named("MPI_C_FLOAT_COMPLEX")
	TypeComplex128 = named("MPI_C_DOUBLE_COMPLEX")
	TypeByte       = named("MPI_BYTE")   // raw bytes, which match TypeByte only
	TypePacked     = named("MPI_PACKED") // what Pack makes, which matches every type

	// The pairs of MinLoc and MaxLoc (MPI-4.0 §6.9.4).
	TypeFloatInt  = named("MPI_FLOAT_INT")         // float32, int32
	TypeDoubleInt = named("MPI_DOUBLE_INT")        // float64, int32
	TypeLongInt   = named("MPI_LONG_INT")          // int64, int32
	Type2Int      = named("MPI_2INT")              // int32, int32
	TypeShortInt  = named("MPI_SHORT_INT")         // int16, int32
	Type2Real     = named("MPI_2REAL")             // float32, float32
	Type2Double   = named("MPI_2DOUBLE_PRECISION") // float64, float64
)

// kinds has the predefined types by kind.
var kinds [256]*Datatype

// named makes the predefined type of one of kindNames.
func named(name string) *Datatype {
	for k, n := range kindNames {
		if n == name {
			kinds[k] = &Datatype{t: datatype.Of(k), shared: true}
			kinds[k].name.Store(&name)
			return kinds[k]
		}
	}
	return nil
}
