package capi

// CallOp calls a function of the C program, MPI_User_function or if large
// MPI_User_function_c, for n elements of a datatype, a handle. Displacement 0 of the first
// one is at bytes behind the beginning of in and of inout. RawOp is the C function for one of
// MPI's operators on one of its datatypes, handles, that package mpi has no numbers for, or
// 0. The library sets both when it is loaded.
var (
	CallOp func(f uintptr, in, inout []byte, at, n int, datatype uint64, large bool)
	RawOp  = func(op, datatype uint32) uintptr { return 0 }
)

// function is one of C that combines elements.
type function struct {
	f     uintptr
	large bool // it counts with 64 bits
}

// mostAtOnce is how many elements a function gets that counts with an int.
const mostAtOnce = 1 << 30

// combine calls the function for n elements of a type. The memory is that which they touch.
func (f function) combine(in, inout []byte, n int, t *datatype, handle uint64) {
	if types.get(handle) != t { // the program has freed it: the function gets another handle
		h, err := addDatatype(t.layout)
		if err == nil {
			defer types.drop(uint64(h))
			handle = uint64(h)
		}
	}
	lo, _ := t.span(n)
	for at := -lo; n > 0; {
		k := n
		if !f.large {
			k = min(n, mostAtOnce)
		}
		CallOp(f.f, in, inout, at, k, handle, f.large)
		at, n = at+k*t.extent, n-k
	}
}
