package datatype

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// What can be wrong with an argument. An *ArgError wraps one of them.
var (
	ErrNegative     = errors.New("it is negative")
	ErrTooLarge     = fmt.Errorf("the size, a bound or a displacement of the type would be above %d", math.MaxInt)
	ErrNilType      = errors.New("it is nil: give a predefined type, or what a constructor has returned")
	ErrKind         = errors.New("there is no such kind")
	ErrLengths      = errors.New("the lists are not equally long")
	ErrOutside      = errors.New("it does not fit into the array")
	ErrValue        = errors.New("there is no such value")
	ErrTooDeep      = fmt.Errorf("the type would be nested deeper than %d levels", MaxDepth)
	ErrNotCommitted = errors.New("the type is not committed: call Commit first")
	ErrMemory       = errors.New("the elements do not lie within the memory")
	ErrShort        = errors.New("there is too little room for the packed bytes")
	ErrMissing      = errors.New("the packed bytes end before the last element")
)

// ArgError is the error of a call with a bad argument. Nothing has been made,
// written or read then.
type ArgError struct {
	Call  string // the function: "Vector"
	Arg   string // the argument's name, as the function's documentation has it
	Pos   int    // its position among the arguments, from 1 on; 0 is the receiver
	Item  int    // the place in the list that the argument is, from 0 on, or -1
	Value int    // the offending number, if HasValue
	Err   error  // one of the errors above
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

// call names a function for its errors.
type call string

func (c call) bad(pos int, arg string, err error) *ArgError {
	return &ArgError{Call: string(c), Arg: arg, Pos: pos, Item: -1, Err: err}
}

func (c call) badValue(pos int, arg string, value int, err error) *ArgError {
	e := c.bad(pos, arg, err)
	e.Value, e.HasValue = value, true
	return e
}

func (c call) badItem(pos int, arg string, item int, err error) *ArgError {
	e := c.bad(pos, arg, err)
	e.Item = item
	return e
}

func (c call) badItemValue(pos int, arg string, item, value int, err error) *ArgError {
	e := c.badValue(pos, arg, value, err)
	e.Item = item
	return e
}

func (e *ArgError) hint(format string, args ...any) *ArgError {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// count checks an argument that must not be negative.
func (c call) count(pos int, arg string, n int) error {
	if n < 0 {
		return c.badValue(pos, arg, n, ErrNegative)
	}
	return nil
}

// counts checks a list of them.
func (c call) counts(pos int, arg string, list []int) error {
	for i, n := range list {
		if n < 0 {
			return c.badItemValue(pos, arg, i, n, ErrNegative)
		}
	}
	return nil
}

// equallyLong checks that the argument at pos is as long as the first list.
func (c call) equallyLong(pos int, arg string, n int, first string, want int) error {
	if n != want {
		return c.bad(pos, arg, ErrLengths).hint("it has %d items, %s has %d", n, first, want)
	}
	return nil
}

func (c call) oldType(pos int, t *Type) error {
	if t == nil {
		return c.bad(pos, "t", ErrNilType)
	}
	return nil
}
