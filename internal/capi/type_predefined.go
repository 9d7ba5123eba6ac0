package capi

import "github.com/weft-mpi/weft/mpi"

// typesByName has the types of package mpi by the names of their kinds.
var typesByName = map[string]*mpi.Datatype{
	"bool": mpi.TypeBool, "int8": mpi.TypeInt8, "uint8": mpi.TypeUint8, "int16": mpi.TypeInt16, "uint16": mpi.TypeUint16,
	"int32": mpi.TypeInt32, "uint32": mpi.TypeUint32, "int64": mpi.TypeInt64, "uint64": mpi.TypeUint64,
	"float32": mpi.TypeFloat32, "float64": mpi.TypeFloat64, "complex64": mpi.TypeComplex64, "complex128": mpi.TypeComplex128,
	"byte": mpi.TypeByte, "packed": mpi.TypePacked,
	"float_int": mpi.TypeFloatInt, "double_int": mpi.TypeDoubleInt, "long_int": mpi.TypeLongInt, "2int": mpi.Type2Int,
	"short_int": mpi.TypeShortInt, "2real": mpi.Type2Real, "2double_precision": mpi.Type2Double,
}

// predefineTypes gives all types that mpi.h names their handles.
func predefineTypes() {
	for i := range predefinedTypes {
		predefinedTypes[i].put()
	}
}

func (p *predefinedType) put() {
	t, known := typesByName[p.kind]
	if !known {
		t = rawType(p.size, p.extent)
	}
	l := newLayout(t)
	l.predefined, l.handle = p, p.handle
	switch {
	case known:
	case p.size == p.extent:
		l.raw, l.basics = true, 1
	default: // a value and its index
		l.raw, l.basics = true, 2
	}
	l.setExternal()
	d := &datatype{layout: l}
	d.name.Store(&p.name)
	types.put(p.handle, d, func(s *slot) { s.describeType(l) })
}

// rawType is bytes that nothing converts. Its numbers are those of a table, which are good.
func rawType(size, extent int) *mpi.Datatype {
	t, _ := mpi.TypeContiguous(size, mpi.TypeByte)
	if extent != size {
		t, _ = mpi.TypeResized(t, 0, extent)
	}
	_ = t.Commit()
	return t
}
