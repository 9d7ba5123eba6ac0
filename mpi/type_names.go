package mpi

import "github.com/weft-mpi/weft/internal/datatype"

// kindNames are MPI's names of the predefined types.
var kindNames = map[datatype.Kind]string{
	datatype.Bool: "MPI_C_BOOL", datatype.Int8: "MPI_INT8_T", datatype.Uint8: "MPI_UINT8_T", datatype.Int16: "MPI_INT16_T", datatype.Uint16: "MPI_UINT16_T",
	datatype.Int32: "MPI_INT32_T", datatype.Uint32: "MPI_UINT32_T", datatype.Int64: "MPI_INT64_T", datatype.Uint64: "MPI_UINT64_T",
	datatype.Float32: "MPI_FLOAT", datatype.Float64: "MPI_DOUBLE", datatype.Complex64: "MPI_C_FLOAT_COMPLEX", datatype.Complex128: "MPI_C_DOUBLE_COMPLEX",
	datatype.Byte: "MPI_BYTE", datatype.Packed: "MPI_PACKED",
	datatype.FloatInt: "MPI_FLOAT_INT", datatype.DoubleInt: "MPI_DOUBLE_INT", datatype.LongInt: "MPI_LONG_INT", datatype.TwoInt: "MPI_2INT",
	datatype.ShortInt: "MPI_SHORT_INT", datatype.TwoFloat: "MPI_2REAL", datatype.TwoDouble: "MPI_2DOUBLE_PRECISION",
}

// SetName gives the type a name (MPI_Type_set_name, MPI-4.0 §7.8). A name that is longer
// than MaxObjectName, or has a zero byte, is ErrArg, and the old one stays. A duplicate does
// not have the name. Local.
func (d *Datatype) SetName(name string) error {
	const call = "Datatype.SetName"
	if err := d.refuse(call); err != nil {
		return raiseSelf(err)
	}
	if err := checkName(call, name); err != nil {
		return raiseSelf(err)
	}
	d.name.Store(&name)
	return nil
}

// Name is the type's name (MPI_Type_get_name, MPI-4.0 §7.8), or "" if it has none or is
// nil. At first a predefined type has MPI's, such as MPI_INT32_T, and a type of TypeOf that
// of the Go type. Local.
func (d *Datatype) Name() string {
	if d == nil {
		return ""
	}
	if name := d.name.Load(); name != nil {
		return *name
	}
	return ""
}

// String is the type's name, or else how it was made, its size and its bounds. Local.
func (d *Datatype) String() string {
	if name := d.Name(); name != "" {
		return name
	}
	if d == nil {
		return "nil"
	}
	return d.t.String()
}
