package mpi

import (
	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/pt2pt"
)

// What errors.As finds in the errors of this package, and ErrNotReady, which
// errors.Is finds.

// TruncateError is in the error of a receive whose buffer was too short, of class
// ErrTruncate: Length is that of the message and Room that of the buffer, in
// bytes. The message is consumed and its beginning received.
type TruncateError = pt2pt.TruncateError

// NoBufferError is in the error of a buffered send that found no room, of class
// ErrBuffer: Need is what the message takes of attached memory, Free the most
// there is room for, and Size what is attached, in bytes, BsendOverhead included.
type NoBufferError = pt2pt.NoBufferError

// LimitError is in the error of a receive that can't complete because its message
// waits behind Held others that no receive has asked for, of which this rank takes
// no more than Limit (Limits.Messages), and none of them was received After so
// long (Limits.Stall).
type LimitError = pt2pt.LimitError

// FabricError is in the errors that a transport has met: Op is what was being
// done, Peer the rank it was done to if HasPeer is set, Remedy what the user can
// do about it, or "", and Err the cause.
type FabricError = fabric.Error

// EnvError is in the error of an Init that can't make sense of an environment
// variable: Var and Value are that, Err is what is wrong with it, and Remedy what
// the user can do about it, or "".
type EnvError = boot.EnvError

// LostError is in the error of an Init that can't complete because a rank has
// left, of class ErrProcFailed: Rank is which and Reason how.
type LostError = boot.LostError

// ErrNotReady is in the error of a ready send that still waited for its receiver
// when it learned that no receive had been posted. The message was received.
var ErrNotReady = pt2pt.ErrNotReady
