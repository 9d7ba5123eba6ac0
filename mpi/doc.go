// Package mpi is the Go MPI API of Weft: point-to-point communication with the
// names and the semantics of MPI-4.0, between processes over shared memory, over
// InfiniBand or RoCE, or between goroutines of one process.
//
// A program calls Init, talks on World.Comm and ends with Finalize. Run does that
// for a function: as one rank of a job that a launcher has started, or, without a
// launcher, as ranks that are goroutines. Buffers are slices of scalars and belong to the library from the call to the end of
// the operation. All calls may be made from any number of goroutines at once.
//
// Errors carry an MPI class to compare with errors.Is:
//
//	if _, err := mpi.Recv(c, buf, 0, 7); errors.Is(err, mpi.ErrTruncate) { ... }
//
// What has happened in detail, errors.As finds, in types of this package again:
//
//	var short *mpi.TruncateError
//	if errors.As(err, &short) { buf = make([]byte, short.Length) }
//
// Every call that is given a rank and a tag may answer ErrRank, ErrTag or, after
// Finalize, ErrComm, and has then done nothing. Every operation may end with
// ErrProcFailed if the other rank dies, with ErrCanceled if its context ends, and
// with ErrComm if the World is finalized meanwhile. What else a call answers it
// says itself.
package mpi
