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
	Rank  int  // of the other side, in the communicator
	Sends bool // that is the send
	why   wire.PartEnd
}

// unread is why a send has failed whose receiver could not read blocks, which a PDone tells.
const unread wire.PartEnd = 255

func (e *GoneError) Error() string {
	what := "partitioned receive"
	if e.Sends {
		what = "partitioned send"
	}
	switch e.why {
	case wire.PartFreed:
		return fmt.Sprintf("rank %d has freed its %s: no round can complete any more, so free this side too", e.Rank, what)
	case wire.PartContext:
		return fmt.Sprintf("rank %d has given up its %s, as the context of its communicator has ended", e.Rank, what)
	case wire.PartUnmatched:
		return fmt.Sprintf("rank %d has no PrecvInit for the send: its communicator was freed", e.Rank)
	case unread:
		return fmt.Sprintf("rank %d could not read the partitions", e.Rank)
	case wire.PartRevoked:
		return fmt.Sprintf("rank %d has given up its %s, as the communicator has been revoked", e.Rank, what)
	}
	return fmt.Sprintf("rank %d has given up its %s after a failure, which the error there names", e.Rank, what)
}

// Revoked reports whether that was because the communicator has been revoked.
func (e *GoneError) Revoked() bool { return e.why == wire.PartRevoked }

func (e *GoneError) Unwrap() error { return ErrFreed }

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
