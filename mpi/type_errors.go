package mpi

import (
	"errors"

	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/mpi/cause"
)

// ArgError is in the error of a call on datatypes with a bad argument: Arg is its name,
// Pos its position from 1 on, or 0 for the receiver, Item the place in the list that it
// is, or -1, Value the number if HasValue is set, and Hint what would be right, or "".
type ArgError = cause.ArgError

var (
	errNoType    = errors.New("it is no datatype: take a predefined one such as TypeInt32, or what TypeOf or a constructor has returned")
	errFreedType = errors.New("the datatype has been freed: make it again, or free it later")
)

// usable is why d is no datatype, or nil.
func (d *Datatype) usable() error {
	switch {
	case d == nil || d.t == nil:
		return errNoType
	case d.freed.Load():
		return errFreedType
	}
	return nil
}

// refuse is the error of a call with a type that is none, or nil.
func (d *Datatype) refuse(call string) error {
	if err := d.usable(); err != nil {
		return badArg(call, ErrType, "%w", err)
	}
	return nil
}

// typeFailure is an error of package datatype as a call returns it; nil stays nil.
func typeFailure(call string, err error) error {
	if err == nil {
		return nil
	}
	class := typeClass(err)
	if arg, ok := errors.AsType[*ArgError](err); ok {
		arg.Call = call
		err = argError{arg}
	}
	return &Error{Class: class, Call: call, Err: err}
}

// argError is an ArgError below an Error, which names the call.
type argError struct{ *ArgError }

func (e argError) Error() string { return e.Words() }
func (e argError) Unwrap() error { return e.ArgError }

// typeClass is the class of an error of package datatype.
func typeClass(err error) Class {
	var arg *ArgError
	for _, is := range []error{datatype.ErrNotCommitted, datatype.ErrNilType, datatype.ErrKind, errNoType, errFreedType} {
		if errors.Is(err, is) {
			return ErrType
		}
	}
	switch {
	case errors.As(err, new(*datatype.FieldError)):
		return ErrType
	case errors.Is(err, datatype.ErrMemory), errors.Is(err, datatype.ErrShort), errors.Is(err, datatype.ErrMissing):
		return ErrBuffer
	case errors.As(err, &arg) && arg.Arg == "count":
		return ErrCount
	}
	return ErrArg
}
