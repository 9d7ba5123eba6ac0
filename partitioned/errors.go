package partitioned

import (
	"errors"
	"fmt"
)

// Errors of the calls on partitions.
var (
	// ErrNotStarted is returned for a partition of a send that has not been
	// started.
	ErrNotStarted = errors.New("the send has not been started: call Start before a partition is made ready")
	// ErrFreed is the end of an operation whose other side has been given up.
	ErrFreed = errors.New("the other side of the partitioned operation has been freed, or abandoned by its context, or its communicator was freed before it was made")
)

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
