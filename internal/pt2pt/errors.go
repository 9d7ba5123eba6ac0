package pt2pt

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNotFetched is the error of a send whose receiver could not read the
	// message.
	ErrNotFetched = errors.New("the receiver could not fetch the message")
	// ErrNotWritten is the error of a receive whose sender could not write the
	// message.
	ErrNotWritten = errors.New("the sender could not write the message")
	// ErrNotReady is the error of a ready send that came before its receive, if
	// the sender still waited for the receiver. The message has been received
	// since.
	ErrNotReady = errors.New("no matching receive was posted when the message arrived (it has been received nevertheless): " +
		"post the receive first, or use a standard send")
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

// TruncateError is the error of a receive whose buffer was too short. The
// message is consumed and its beginning received.
type TruncateError struct {
	Length, Room uint64 // bytes
}

func (e *TruncateError) Error() string {
	return fmt.Sprintf("message of %d bytes truncated to the %d of the receive buffer", e.Length, e.Room)
}

// NoBufferError is the error of a buffered send that found no room.
type NoBufferError struct {
	Need, Free, Size int // bytes, overhead included: of the message, the most there is room for, attached
}

func (e *NoBufferError) Error() string {
	if e.Size == 0 {
		return fmt.Sprintf("a buffered send needs %d bytes of attached memory and none is attached: call BufferAttach", e.Need)
	}
	return fmt.Sprintf("a buffered send needs %d bytes of attached memory: there is room for %d of %d; attach more, or flush",
		e.Need, e.Free, e.Size)
}

// LimitError is the error of a receive that can't complete: its message waits
// behind so many others that this rank accepts no more.
type LimitError struct {
	Held, Limit int           // unreceived messages
	After       time.Duration // during which none of them was received
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the message of this receive waits behind %d others that no receive has asked for, the limit is %d, and none was received for %v: "+
		"receive them in the order they are sent, or raise the limit", e.Held, e.Limit, e.After)
}
