package datatype

import (
	"errors"
	"fmt"
	"math"

	"github.com/weft-mpi/weft/mpi/cause"
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

// call names a function for its errors.
type call string

func (c call) bad(pos int, arg string, err error) *cause.ArgError {
	return &cause.ArgError{Call: string(c), Arg: arg, Pos: pos, Item: -1, Err: err}
}

func (c call) badValue(pos int, arg string, value int, err error) *cause.ArgError {
	e := c.bad(pos, arg, err)
	e.Value, e.HasValue = value, true
	return e
}

func (c call) badItem(pos int, arg string, item int, err error) *cause.ArgError {
	e := c.bad(pos, arg, err)
	e.Item = item
	return e
}

func (c call) badItemValue(pos int, arg string, item, value int, err error) *cause.ArgError {
	e := c.badValue(pos, arg, value, err)
	e.Item = item
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
		return hint(c.bad(pos, arg, ErrLengths), "it has %d items, %s has %d", n, first, want)
	}
	return nil
}

func (c call) oldType(pos int, t *Type) error {
	if t == nil {
		return c.bad(pos, "t", ErrNilType)
	}
	return nil
}

// hint adds to an error what would be right.
func hint(e *cause.ArgError, format string, args ...any) *cause.ArgError {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}
