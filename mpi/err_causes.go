package mpi

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/mpi/cause"

	"github.com/weft-mpi/weft/rma"
)

// Causes that errors.As finds in the errors of this package, and two that errors.Is finds.

// TruncateError is in the error of a receive whose buffer was too short, of
// class ErrTruncate. Length is the message's and Room the buffer's, in bytes.
// The message is consumed and its beginning received.
type TruncateError = cause.TruncateError

// NoBufferError is in the error of a buffered send that found no room, of class
// ErrBuffer. Need is the attached memory that the message takes, Free the most
// there is room for, and Size the attached memory, in bytes, BsendOverhead
// included.
type NoBufferError = cause.NoBufferError

// LimitError is in the error of a receive that can't complete: its message waits
// behind Held unreceived others. This rank accepts no more than Limit of those
// (Limits.Messages), and none of them was received for the time After
// (Limits.Stall).
type LimitError = cause.LimitError

// LengthError is in the error of a collective call that gets a shorter message than
// its arguments say, of class ErrCount. Rank is the sender's in the communicator, or if
// Remote is set in the remote group, Got and Want are bytes. After a longer message the
// error has a TruncateError.
type LengthError = cause.LengthError

// MismatchError is in the error of a collective call that does not match the one that
// another rank makes in its place, of class ErrNotSame: another call, a nonblocking one
// instead of a blocking one, another root, length or operator. Ranks of the communicator
// Rank and Here make the calls Theirs and Mine, such as "Bcast of 8 bytes from root 0".
// It is found when the call has waited for about a second. Calls that do not match and
// end all the same may not be found.
type MismatchError = cause.MismatchError

// CallError is in the error of a collective call that has failed at another rank: Rank in
// the communicator, or if Remote is set in the remote group, and World in the job, which
// Rank is too if InJob is: no communicator has been made yet, or it has not that rank. Code
// is the error's class there, which is also that of the error here, and Text is its text.
type CallError = cause.CallError

// BrokenError is in the error of collective calls on a communicator on which one has
// failed before, with Err. They have that one's class.
type BrokenError = cause.BrokenError

// OperatorError is in the error of a collective call whose operator, a function of
// the program's, has panicked or ended its goroutine at this rank, of class ErrOp.
// Value is what it has panicked with, which errors.As finds too if it is an error;
// Stack is where. The other ranks get a CallError of that class.
type OperatorError = cause.OperatorError

// ConflictError is in the error of a call on a window with separate memory that has found
// two accesses that conflict, of class ErrRMAConflict (see WinOptions). First and Second
// are in the order in which the rank Target of the window has heard of them; At and Bytes
// are the first bytes of its part that both are about, an address in a dynamic window.
// errors.As finds the first of several.
type ConflictError = rma.ConflictError

// WinAccess is one of the two: Rank is in the window, Call what it does in words, such as
// "Put" or "Accumulate of Sum on int64", and Line the function and line of the program
// that called it. A store makes no call: Line is that of the rank's last call that
// synchronized the copies before it, which Call names.
type WinAccess = rma.Access

// FabricError is in the errors of a transport. Op is the operation that failed,
// Peer its rank if HasPeer is set, Remedy what the user can do about it, or "",
// and Err the cause.
type FabricError = fabric.Error

// EnvError is in the error of an Init that can't use an environment variable.
// Var and Value are the variable, Err is what is wrong with it, and Remedy what
// the user can do about it, or "".
type EnvError = cause.EnvError

// LostError is in the error of an Init that can't complete because a rank has
// left, of class ErrProcFailed. Rank is that rank, Reason says how it left.
type LostError = cause.LostError

// AbortError is in the errors of ranks that are goroutines once one of them has
// called Abort, of class ErrProcAborted, and in that of their Run. Rank is the
// rank that called it, Code the exit code it has asked for, and Why its reason.
type AbortError = cause.AbortError

// ErrNotReady is in the error of a ready send that still waited for its receiver
// when it learned that no receive had been posted. The message was received.
var ErrNotReady = cause.ErrNotReady

// ErrDiscovered is in the error of a second Init, Run or NewSession of a process that has
// taken part in its launched job already.
var ErrDiscovered = cause.ErrDiscovered
