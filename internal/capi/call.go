package capi

import "github.com/weft-mpi/weft/mpi"

//go:generate go run ./gen -root ../..

// Call makes the call with that number of the table, and returns MPI_SUCCESS or an error
// code. The arguments are in memory of C's.
func Call(function int, a *Args) int32 {
	roomForHandlers()
	if !settled() {
		settle()
	}
	f := functions[function]
	if f == nil {
		f = unsupported
	}
	if err := f(a); err != nil {
		return a.failed(err)
	}
	return 0
}

// unsupported answers for what C files call and nothing here answers.
func unsupported(*Args) error {
	return fail(mpi.ErrUnsupported, "this version of the library does not have the function")
}
