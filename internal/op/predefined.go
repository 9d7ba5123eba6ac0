package op

// The predefined operators of reductions (MPI-4.0 §6.9.2). All commute. Each fits the kinds that
// MPI permits for the Go types: bool is MPI's logical, uint8 an integer.
var (
	// Sum is MPI_SUM: for integers, floating-point numbers and complex numbers.
	Sum = predefined("Sum", CodeSum, table{
		Int8: sum[uint8], Int16: sum[uint16], Int32: sum[uint32], Int64: sum[uint64],
		Uint8: sum[uint8], Uint16: sum[uint16], Uint32: sum[uint32], Uint64: sum[uint64],
		Float32: sum[float32], Float64: sum[float64], Complex64: sum[complex64], Complex128: sum[complex128]})

	// Prod is MPI_PROD: for integers, floating-point numbers and complex numbers.
	Prod = predefined("Prod", CodeProd, table{
		Int8: prod[uint8], Int16: prod[uint16], Int32: prod[uint32], Int64: prod[uint64],
		Uint8: prod[uint8], Uint16: prod[uint16], Uint32: prod[uint32], Uint64: prod[uint64],
		Float32: prod[float32], Float64: prod[float64], Complex64: prodComplex64, Complex128: prodComplex128})

	// Max is MPI_MAX: for integers and floating-point numbers. NaN wins; +0 is above
	// −0.
	Max = predefined("Max", CodeMax, table{
		Int8: maxInt[int8], Int16: maxInt[int16], Int32: maxInt[int32], Int64: maxInt[int64],
		Uint8: maxInt[uint8], Uint16: maxInt[uint16], Uint32: maxInt[uint32], Uint64: maxInt[uint64],
		Float32: maxFloat[float32], Float64: maxFloat[float64]})

	// Min is MPI_MIN: for integers and floating-point numbers. NaN wins; −0 is below
	// +0.
	Min = predefined("Min", CodeMin, table{
		Int8: minInt[int8], Int16: minInt[int16], Int32: minInt[int32], Int64: minInt[int64],
		Uint8: minInt[uint8], Uint16: minInt[uint16], Uint32: minInt[uint32], Uint64: minInt[uint64],
		Float32: minFloat[float32], Float64: minFloat[float64]})

	// LAnd is MPI_LAND, logical and: for bool and integers. An element is true if any
	// bit of it is set; results are true and false, or 1 and 0.
	LAnd = predefined("LAnd", CodeLAnd, truths(land[uint8], land[uint16], land[uint32], land[uint64]))

	// LOr is MPI_LOR, logical or: for bool and integers, as LAnd.
	LOr = predefined("LOr", CodeLOr, truths(lor[uint8], lor[uint16], lor[uint32], lor[uint64]))

	// LXor is MPI_LXOR, logical exclusive or: for bool and integers, as LAnd.
	LXor = predefined("LXor", CodeLXor, truths(lxor[uint8], lxor[uint16], lxor[uint32], lxor[uint64]))

	// BAnd is MPI_BAND, bitwise and: for integers and bytes.
	BAnd = predefined("BAnd", CodeBAnd, bitwise(band[uint8], band[uint16], band[uint32], band[uint64]))

	// BOr is MPI_BOR, bitwise or: for integers and bytes.
	BOr = predefined("BOr", CodeBOr, bitwise(bor[uint8], bor[uint16], bor[uint32], bor[uint64]))

	// BXor is MPI_BXOR, bitwise exclusive or: for integers and bytes.
	BXor = predefined("BXor", CodeBXor, bitwise(bxor[uint8], bxor[uint16], bxor[uint32], bxor[uint64]))
)

func predefined(name string, c Code, funcs table) *Op {
	return &Op{name: name, code: c, commutes: true, funcs: funcs}
}

// integers is for operators that do not depend on the sign.
func integers(f8, f16, f32, f64 Func) table {
	return table{Int8: f8, Uint8: f8, Int16: f16, Uint16: f16, Int32: f32, Uint32: f32, Int64: f64, Uint64: f64}
}

// bitwise is integers for operators on bytes, too.
func bitwise(f8, f16, f32, f64 Func) table {
	funcs := integers(f8, f16, f32, f64)
	funcs[Byte] = f8
	return funcs
}

// truths takes bools as integers of a byte: nothing depends on how the compiler
// treats a bool from a peer that is neither 0 nor 1.
func truths(f8, f16, f32, f64 Func) table {
	funcs := integers(f8, f16, f32, f64)
	funcs[Bool] = f8
	return funcs
}
