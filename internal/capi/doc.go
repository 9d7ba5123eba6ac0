// Package capi answers the calls of the C library libmpi_abi.so (cmd/libmpi-abi) by package
// mpi. It uses no cgo, so go test and the race detector see all of it: a call comes as a
// function's number and the address of its arguments, in memory of C's.
//
// There is one function for each function of MPI that is answered in Go, named as that
// without its prefix: commSplitType is MPI_Comm_split_type, and MPI_Comm_split_type_c if
// there is one. The table of numbers is made of package spec by package gen, which finds
// out by name what there is; what is neither here nor in the C files answers
// MPI_ERR_UNSUPPORTED_OPERATION.
//
// Errors are returned, never raised: every communicator, window and session has a handler
// that only notes which of them the error is about, and the error handlers of the C program
// run in C, after the call has returned.
package capi
