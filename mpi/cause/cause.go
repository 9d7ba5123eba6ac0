// Package cause has the errors that errors.As finds in those of package mpi, for whose
// users it is. mpi names each of them again, and says which class it comes with: a
// program needs no other import. Package fabric has the errors of transports, and rma
// those of windows.
package cause

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrNotReady is the error of a ready send that came before its receive, if the sender
// still waited for the receiver. The message has been received since.
var ErrNotReady = errors.New("no matching receive was posted when the message arrived (it has been received nevertheless): " +
	"post the receive first, or use a standard send")

// TruncateError is the error of a receive whose buffer was too short. The message is
// consumed and its beginning received.
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

// LimitError is the error of a receive that can't complete: its message waits behind so
// many others that this rank accepts no more.
type LimitError struct {
	Held, Limit int           // unreceived messages
	After       time.Duration // during which none of them was received
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the message of this receive waits behind %d others that no receive has asked for, the limit is %d, and none was received for %v: "+
		"receive them in the order they are sent, or raise the limit", e.Held, e.Limit, e.After)
}

// ArgError is the error of a call on datatypes with a bad argument. Nothing has been
// made, written or read then.
type ArgError struct {
	Call  string // the function: "Vector"
	Arg   string // the argument's name, as the function's documentation has it
	Pos   int    // its position among the arguments, from 1 on; 0 is the receiver
	Item  int    // the place in the list that the argument is, from 0 on, or -1
	Value int    // the offending number, if HasValue
	Err   error  // what is wrong with it
	Hint  string // what would be right, or ""

	HasValue bool
}

func (e *ArgError) Error() string { return e.Call + ": " + e.Words() }

// Words is the error without the call: "argument 2, blocklen = -1: it is negative".
func (e *ArgError) Words() string {
	var b strings.Builder
	switch {
	case e.Pos == 0:
		b.WriteString(e.Arg)
	default:
		fmt.Fprintf(&b, "argument %d, %s", e.Pos, e.Arg)
	}
	if e.Item >= 0 {
		fmt.Fprintf(&b, "[%d]", e.Item)
	}
	if e.HasValue {
		fmt.Fprintf(&b, " = %d", e.Value)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Hint != "" {
		fmt.Fprintf(&b, ": %s", e.Hint)
	}
	return b.String()
}

func (e *ArgError) Unwrap() error { return e.Err }
