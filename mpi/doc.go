// Package mpi is the Go MPI API of Weft: point-to-point, collective and one-sided
// communication with the names and the semantics of MPI-4.0, between processes over
// shared memory, TCP, InfiniBand or RoCE, or between goroutines of one process.
//
// A program calls Init, communicates on World.Comm and calls Finalize. Run does
// both for a function: as one rank of a job that a launcher has started, or,
// without a launcher, as ranks that are goroutines. A part of a program that is to
// know nothing of the others has a Session (NewSession). Buffers are slices of
// scalars. A buffer belongs to the library from the call to the completion of
// the operation. Any number of goroutines may make calls at once.
//
// Collective calls are made by all ranks of a communicator, in the same order, and with
// arguments that agree as each call says. A length is that of a slice, in elements.
// Arguments that a call does not use at a rank are not looked at there, and may be nil.
// recv may be longer than the result; send is sent whole. InPlace is for input that is
// where the result comes. The methods of Comm that have the names of these functions take
// Bufs. Their elements, and blocks of some of them, follow one another at the distance of
// the type's extent; counts and displacements count elements of the Buf's type. Only
// elements that a call gives to the rank are written to. Types may differ from rank to
// rank, and a rank may pass a slice where another one passes a Buf, as long as the basic
// elements that are sent are those that are received, in the same order. The calls that return a Request are local, and do not match
// the blocking ones. A rank whose arguments are wrong has made no call, so that the
// others wait for it. If a call fails otherwise, it fails at all ranks, or the next
// one does, and the communicator's collective calls can't be used further. So do calls
// that do not match one another, with ErrNotSame and a MismatchError, if one of them
// waits for about a second; with WithChecks all do, and at once.
//
// What is no slice of scalars is a Buf: memory with a Datatype. OfStructs makes one of a
// slice of structs; Strided, Subarray and Indexed of a part of a slice; As of any Datatype,
// which TypeOf or a constructor such as TypeVector has returned. The methods of Comm take
// Bufs, and do what the functions of their names do:
//
//	err := c.Send(mpi.Strided(matrix, rows, 1, columns), 1, 0) // the first column
//
// A window (WinAllocate) is memory that each rank of a communicator exposes to the others,
// for Put, Get and accumulates, which need no call at the target. They are allowed within
// epochs, which Fence, Start, Lock and LockAll open, and end at the calls that close those
// or at a flush:
//
//	w, err := mpi.WinAllocate[int64](c, 1, mpi.WinOptions{})
//	err = w.LockAll()
//	ticket, err := w.FetchAndOpNow(mpi.Sum, 1, 0, 0) // adds 1 to element 0 of rank 0
//
// A failure at the target is told by the call that ends the operation.
//
// A communicator may have a topology, which says who is whose neighbor: a grid
// (Comm.CartCreate) or a graph (Comm.DistGraphAdjacent). It may number the ranks such that
// neighbors are on one host. Calls such as NeighborAlltoall exchange elements with the
// neighbors, by a message for each edge of the topology:
//
//	err = mpi.NeighborAlltoall(cart, send, recv) // a block for each of cart.Neighbors()
//
// # Local, non-local, collective
//
// A call is Local if its return does not depend on calls of other ranks, and Non-local if
// it may wait for some (MPI-4.0 §2.4.2); its documentation says which. A Local call may
// start an operation, or look whether it has ended, and does not wait for it. Where a rank
// runs WithoutProgressThread, what others want of its memory waits for its next call. A
// call is Collective if all ranks of a communicator or of a window make it; whether it
// waits for them is another question:
//
//   - Comm.Barrier and Win.Fence synchronize: none returns before all ranks have made the
//     call, on an intercommunicator those of the remote group.
//   - Allgather, Allgatherv, Alltoall, Alltoallv, Alltoallw, Allreduce, ReduceScatter and
//     ReduceScatterBlock do so on a communicator of one group if all counts are above
//     zero, since what each rank gets needs elements of all.
//   - Of the forms that return a Request, the end of the request does what the return of
//     the blocking call does.
//   - Comm.Agree and Comm.Shrink wait for the ranks that live.
//   - No other call need synchronize. It may do so, in one release and not in the next, so
//     that a program relies neither on it nor on the opposite.
//
// # Callbacks
//
// Functions of the program's run on goroutines that hold nothing of the library's. They may
// block, and make any call that their documentation does not exclude. That of OnComplete
// runs on a goroutine for all such functions of the rank, one at a time, in the order in
// which their operations complete; the next one waits while it blocks, and communication
// goes on. An operator runs on the goroutine of a blocking call, and of a nonblocking one
// on one of the library's. Error handlers and the functions of attributes and generalized
// requests run on the goroutine of the call that needs them. A panic passes to the caller
// of that call. One of an operator fails the collective call; one of OnComplete's function
// goes to the error handler and to the log.
//
// # Contexts
//
// An operation ends with the context of its communicator, which WithContext sets for a
// copy of the handle, and with ErrCanceled; a window has that of the communicator it was
// made on. Calls where no communicator is there (Init, NewSession, World.BufferDetach) take
// a context as a parameter, and creations from groups in CommOptions.
//
// # Names
//
// Names are MPI's, without the object: MPI_Comm_split is Comm.Split. Get is in a name only
// where it is an operation, as in Window.Get, or the opposite of Set, as in Keyval.Get:
// MPI_Comm_get_name is Comm.Name, MPI_Comm_get_info Comm.Info, MPI_Get_address Address.
//
// # Errors
//
// Errors carry an MPI class to compare with errors.Is:
//
//	if _, err := mpi.Recv(c, buf, 0, 7); errors.Is(err, mpi.ErrTruncate) { ... }
//
// The text begins with the call, such as "mpi.Recv: ". Its ranks are those of the
// communicator, or of the remote group, and the error of a call with a list of requests
// names the index of one. Details are types of this package, which errors.As finds:
//
//	var short *mpi.TruncateError
//	if errors.As(err, &short) { buf = make([]byte, short.Length) }
//
// The error handler of a communicator, or of a window or session (SetErrhandler), sees
// each error before the call returns; at first it is ErrorsReturn, which does nothing.
//
// Every call with a rank and a tag may fail with ErrRank, ErrTag or, after Free or
// Finalize, ErrComm, and has then done nothing. Every operation may fail with
// ErrProcFailed if the other rank dies, with ErrRevoked after Revoke, with ErrCanceled
// if its context ends, and with ErrComm, or because of Abort ErrProcAborted, if the
// World ends meanwhile. Every collective call may fail with ErrNotSame if another one is
// made in its place, with ErrCount or ErrTruncate for a message of another length, with
// ErrBuffer for InPlace where it has none, and with ErrComm while another goroutine is
// in one. Every call on a window may fail with ErrWin after Free, and with ErrRMASync
// where no epoch allows it; one that ends operations also with their failures and
// ErrRMAConflict. These are the general errors; each call documents its others. Those of
// a Buf are what Buf.Err returns, and ErrType for elements that overlap where they are
// written to. A call that starts an operation returns the errors of its arguments, its
// request the others.
package mpi
