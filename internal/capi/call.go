package capi

//go:generate go run ./gen

// Call makes the call with that number of the table, and returns MPI_SUCCESS or an error
// code. The arguments are in memory of C's.
func Call(function int, a *Args) int32 {
	if err := functions[function](a); err != nil {
		return a.failed(err)
	}
	return 0
}
