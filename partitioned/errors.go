package partitioned

import (
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/internal/wire"
)

// Errors of the calls on partitions.
var (
	// ErrNotStarted is returned for a partition of a send that has not been
	// started.
	ErrNotStarted = errors.New("the send has not been started: call Start before a partition is made ready")
	// ErrFreed is in the end of an operation whose other side has been given up: see
	// GoneError.
	ErrFreed = errors.New("the other side of the partitioned operation has been given up")
)

// GoneError is the error of a side of a channel whose other side has been given up.
type GoneError struct {
	Rank   int  // of the other side, in the communicator
	Remote bool // Rank is one of the remote group of an intercommunicator
	Sends  bool // that is the send
	why    wire.PartEnd
}

func (e *GoneError) Error() string {
	what := "partitioned receive"
	if e.Sends {
		what = "partitioned send"
	}
	by := rankText(e.Rank, e.Remote)
	switch e.why {
	case wire.PartFreed:
		return by + " has freed its " + what + ": no round can complete any more, so free this side too"
	case wire.PartContext:
		return by + " has given up its " + what + ", as the context of its communicator has ended"
	case wire.PartUnmatched:
		return by + " has no PrecvInit for the send: its communicator was freed"
	case wire.PartRevoked:
		return by + " has given up its " + what + ", as the communicator has been revoked"
	}
	return by + " has given up its " + what + " after a failure, which the error there names"
}

// rankText is a rank as its communicator numbers it.
func rankText(rank int, remote bool) string {
	if remote {
		return fmt.Sprintf("rank %d of the remote group", rank)
	}
	return fmt.Sprintf("rank %d", rank)
}

// Revoked reports whether that was because the communicator has been revoked.
func (e *GoneError) Revoked() bool { return e.why == wire.PartRevoked }

// Is reports whether target is ErrFreed.
func (e *GoneError) Is(target error) bool { return target == ErrFreed }

// UnreadError is the error of a send whose receiver could not read the partitions.
type UnreadError struct {
	Rank   int  // of the receiver, in the communicator
	Remote bool // Rank is one of the remote group of an intercommunicator
}

func (e *UnreadError) Error() string {
	return rankText(e.Rank, e.Remote) + " could not read the partitions: the error there says why"
}

// errUnmade is the end of a receive whose communicator was freed by another goroutine as it
// was made.
var errUnmade = fmt.Errorf("the communicator was freed as the receive was made (%w)", ErrFreed)

// PartitionError is the error of a call that names a partition that there is not,
// or one that was made ready before.
type PartitionError struct {
	Partition  int
	Partitions int  // of the operation
	Twice      bool // it was made ready before
}

func (e *PartitionError) Error() string {
	if e.Twice {
		return fmt.Sprintf("partition %d is ready already: each is made ready once after a Start, and not again before the next", e.Partition)
	}
	return fmt.Sprintf("partition %d is none of the %d partitions (0 to %d)", e.Partition, e.Partitions, e.Partitions-1)
}

// SizeError is the error of both sides of a channel if they are of different
// sizes.
type SizeError struct {
	Sent, Received          uint64 // bytes
	SendParts, ReceiveParts int    // partitions
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the partitioned send is of %d bytes in %d partitions and its receive of %d bytes in %d: the bytes have to be as many",
		e.Sent, e.SendParts, e.Received, e.ReceiveParts)
}
