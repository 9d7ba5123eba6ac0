package mpi

import "github.com/weft-mpi/weft/layout"

// kindNames are MPI's names of the predefined types.
var kindNames = map[layout.Kind]string{
	layout.Bool: "MPI_C_BOOL", layout.Int8: "MPI_INT8_T", layout.Uint8: "MPI_UINT8_T", layout.Int16: "MPI_INT16_T", layout.Uint16: "MPI_UINT16_T",
	layout.Int32: "MPI_INT32_T", layout.Uint32: "MPI_UINT32_T", layout.Int64: "MPI_INT64_T", layout.Uint64: "MPI_UINT64_T",
	layout.Float32: "MPI_FLOAT", layout.Float64: "MPI_DOUBLE", layout.Complex64: "MPI_C_FLOAT_COMPLEX", layout.Complex128: "MPI_C_DOUBLE_COMPLEX",
	layout.Byte: "MPI_BYTE", layout.Packed: "MPI_PACKED",
	layout.FloatInt: "MPI_FLOAT_INT", layout.DoubleInt: "MPI_DOUBLE_INT", layout.LongInt: "MPI_LONG_INT", layout.TwoInt: "MPI_2INT",
	layout.ShortInt: "MPI_SHORT_INT", layout.TwoFloat: "MPI_2REAL", layout.TwoDouble: "MPI_2DOUBLE_PRECISION",
}

// SetName gives the type a name (MPI_Type_set_name, MPI-4.0 §7.8). A name that is longer
// than MaxObjectName, or has a zero byte, is ErrArg, and the old one stays. A duplicate does
// not have the name. Local.
func (d *Datatype) SetName(name string) error {
	const call = "Datatype.SetName"
	if err := d.refuse(call); err != nil {
		return err
	}
	if err := checkName(call, name); err != nil {
		return err
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
