package pt2pt

import (
	"errors"
	"fmt"
)

// ErrNotFetched ends a send whose receiver could not read the message.
var ErrNotFetched = errors.New("the receiver could not fetch the message")

// TruncateError ends a receive whose buffer was too short. The message is
// consumed and its beginning received.
type TruncateError struct {
	Length, Room uint64 // bytes
}

func (e *TruncateError) Error() string {
	return fmt.Sprintf("message of %d bytes truncated to the %d of the receive buffer", e.Length, e.Room)
}
