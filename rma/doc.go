// Package rma is one-sided communication (MPI-4.0 chapter 12): windows on memory of
// the ranks of a communicator, transfers to and from it, and the waiting that orders
// them.
//
// Where loads and stores reach a rank's part of a window (fabric.Endpoint.Reach), an
// operation is done by the calling goroutine before it returns. Else the fabric carries
// out Put and Get, and packets the rest, which the owner of the target's loop executes.
// A Transfer goes the same way whoever of a window's ranks makes it, or a way that is
// as atomic.
//
// # The ways of an operation
//
// The way is chosen by window and target when the window is made (window.go), and Explain
// says it in words.
//
//	loads and stores  the own part, and parts that Reach returns: Put and Get are a copy on
//	                  the calling goroutine, accumulates are instructions of the processor
//	the fabric        other memory: Put and Get are the fabric's, accumulates packets
//	packets           dynamic windows, those with separate memory, and memory that can't be
//	                  registered
//
// Nobody makes a call at the target. Packets are urgent: they wake the target's thread, and
// the owner of its loop carries them out in the order in which each origin has sent them
// (lane.go, serve.go). A rank without a progress thread serves them in its own calls only.
//
// All accumulates of a window change an element by the same instructions (element.go).
// Elements that no instruction changes at once are changed by the owner of the target's
// loop alone, for everybody; what an origin does behind such an operation goes there too,
// until a flush.
//
// # Ends
//
// A flush waits for the Gets before it, for the fabric's Flush if Puts went that way, and
// for the target's reply if packets did; it returns the first failure of an operation
// without a request (flush.go). A fence is a flush of all targets that were touched, then
// the barrier. Post and Complete are counted for each origin (signal.go).
//
// epoch.go has which call a window allows when: an operation within its epoch loads one
// word. TestEachCallInEachStateDoesWhatTheTableSays has the table.
//
// # Locks
//
// A lock is one word in the target's memory (lock_word.go). A rank that reaches it takes it
// by a compare-and-swap if nobody holds it or waits, and otherwise asks the owner of the
// word, which keeps a queue (lock_queue.go). LockAll is one claim, to a word at rank 0; a
// rank with exclusive locks has the other side of that word (lock_op.go). Nobody passes a
// waiter but a rank that holds another lock: so a deadlock is always the program's own. The
// dead hold for ever, and who conflicts with them gets a LockError that names them. The
// machines do no I/O: TestLocksInAllInterleavings visits every interleaving of their steps
// for rows of programs, and TestLockModel draws more.
//
// # Tests
//
// TestModel plays random programs over windows in which each pair of ranks goes a way of its
// own. The model knows which values each byte may have, and looks for an order of the
// accumulates on each element that explains all results.
package rma
