// Package mpi is the Go MPI API of Weft: point-to-point communication with the
// names and the semantics of MPI-4.0, between processes over shared memory,
// InfiniBand or RoCE, or between goroutines of one process.
//
// A program calls Init, communicates on World.Comm and calls Finalize. Run does
// both for a function: as one rank of a job that a launcher has started, or,
// without a launcher, as ranks that are goroutines. Buffers are slices of
// scalars. A buffer belongs to the library from the call to the completion of
// the operation. Any number of goroutines may make calls at once.
//
// Errors carry an MPI class to compare with errors.Is:
//
//	if _, err := mpi.Recv(c, buf, 0, 7); errors.Is(err, mpi.ErrTruncate) { ... }
//
// Details are types of this package, which errors.As finds:
//
//	var short *mpi.TruncateError
//	if errors.As(err, &short) { buf = make([]byte, short.Length) }
//
// Every call with a rank and a tag may fail with ErrRank, ErrTag or, after
// Finalize, ErrComm, and has then done nothing. Every operation may fail with
// ErrProcFailed if the other rank dies, with ErrCanceled if its context ends,
// and with ErrComm if the World is finalized meanwhile. Each call documents its
// other errors.
package mpi
