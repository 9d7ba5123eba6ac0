package capi

import "github.com/weft-mpi/weft/mpi"

// datatype is a type, and where its elements lie, so that a call need not ask.
type datatype struct {
	t      *mpi.Datatype
	lo, hi int // bytes of one element, from its origin on
	extent int
}

func newDatatype(t *mpi.Datatype) *datatype {
	d := &datatype{t: t}
	_, d.extent = t.Extent()
	lb, extent := t.TrueExtent()
	d.lo, d.hi = lb, lb+extent
	return d
}

// span is the bytes that n elements touch, from the origin of the first one on.
func (d *datatype) span(n int) (lo, hi int) {
	last := (n - 1) * d.extent
	if n <= 0 || d.lo == d.hi {
		return 0, 0
	}
	return d.lo + min(last, 0), d.hi + max(last, 0)
}

// describe writes what C knows of a type.
func (s *slot) describeType(t *mpi.Datatype) {
	lb, extent := t.Extent()
	s.words = [3]int64{int64(t.Size()), int64(lb), int64(extent)}
}

// predefineTypes gives MPI's datatypes their handles.
func predefineTypes() {
	for _, p := range &predefinedTypes {
		if t := typesByName[p.kind]; t != nil {
			types.put(p.handle, newDatatype(t), func(s *slot) { s.describeType(t) })
		}
	}
}

var typesByName = map[string]*mpi.Datatype{
	"bool": mpi.TypeBool, "int8": mpi.TypeInt8, "uint8": mpi.TypeUint8, "int16": mpi.TypeInt16, "uint16": mpi.TypeUint16,
	"int32": mpi.TypeInt32, "uint32": mpi.TypeUint32, "int64": mpi.TypeInt64, "uint64": mpi.TypeUint64,
	"float32": mpi.TypeFloat32, "float64": mpi.TypeFloat64, "complex64": mpi.TypeComplex64, "complex128": mpi.TypeComplex128,
	"byte": mpi.TypeByte, "packed": mpi.TypePacked,
}
