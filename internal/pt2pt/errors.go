package pt2pt

import (
	"errors"
)

var (
	// ErrNotFetched is the error of a send whose receiver could not read the
	// message.
	ErrNotFetched = errors.New("the receiver could not fetch the message")
	// ErrNotWritten is the error of a receive whose sender could not write the
	// message.
	ErrNotWritten = errors.New("the sender could not write the message")
	// ErrFreed is the error of a send whose receiver has freed the communicator
	// without receiving the message.
	ErrFreed = errors.New("the communicator has been freed at the receiver, and no receive can take the message any more: " +
		"receive every message before Comm.Free")
	// ErrNoMessage is returned by a receive of a matched message that has been
	// received already.
	ErrNoMessage = errors.New("the message handle is null, or its message has been received")
	// ErrAttached is returned by an attach where memory is attached already.
	ErrAttached = errors.New("memory for buffered sends is attached already: detach it first")
)
