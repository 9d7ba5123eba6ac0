package capi

import (
	"errors"

	"github.com/weft-mpi/weft/mpi"
)

// Packing (MPI-5.0 §5.2 and §5.3). All ranks of a job have one representation, so nothing
// depends on the communicator but whose error handler sees an error.

func pack(a *Args) error {
	out, err := a.packed(3, 4)
	if err != nil {
		return err
	}
	next, err := mpi.Pack(a.buf(0), out, a.position(5, false))
	return a.setPosition(5, false, next, err)
}

func packExternal(a *Args) error {
	out, err := a.external(4, 5)
	if err != nil {
		return err
	}
	do := mpi.PackExternal
	if l := a.foreignPart(3); l != nil {
		do = l.packExternal
	}
	next, err := do(a.buf(1), out, a.position(6, true))
	return a.setPosition(6, true, next, err)
}

func unpack(a *Args) error {
	in, err := a.packed(0, 1)
	if err != nil {
		return err
	}
	next, err := mpi.Unpack(in, a.position(2, false), a.buf(3))
	return a.setPosition(2, false, next, err)
}

func unpackExternal(a *Args) error {
	in, err := a.external(1, 2)
	if err != nil {
		return err
	}
	do := mpi.UnpackExternal
	if l := a.foreignPart(6); l != nil {
		do = l.unpackExternal
	}
	next, err := do(in, a.position(3, true), a.buf(4))
	return a.setPosition(3, true, next, err)
}

func packSize(a *Args) error {
	n, err := mpi.PackSize(a.count(0), a.datatype(1))
	if err != nil {
		return unraised(err)
	}
	a.setCount(3, n)
	return nil
}

func packExternalSize(a *Args) error {
	if err := a.external32(); err != nil {
		return err
	}
	l, _ := a.part(2)
	if l == nil {
		return errDatatype
	}
	n, _, err := l.externalSize(a.count(1))
	if err != nil {
		return err
	}
	a.setAint(3, n)
	return nil
}

// packed is packed bytes: their address and how many there are.
func (a *Args) packed(addr, size int) ([]byte, error) {
	if n := a.count(size); n < 0 {
		return nil, fail(mpi.ErrArg, "packed bytes are %d: give the length of the buffer", n)
	}
	return bytesAt(a.words[addr], a.count(size)), nil
}

// external is packed bytes in a representation, which argument 0 names.
func (a *Args) external(addr, size int) ([]byte, error) {
	if err := a.external32(); err != nil {
		return nil, err
	}
	return a.packed(addr, size)
}

func (a *Args) external32() error {
	if name := a.string(0); name != "external32" {
		return fail(mpi.ErrUnsupDatarep, "there is no data representation %q: external32 is the one to pack in", name)
	}
	return nil
}

// position is the number that argument i points to: of 64 bits, or a count.
func (a *Args) position(i int, wide bool) int {
	if wide || a.large != 0 {
		return array[int](a, i, 1)[0]
	}
	return int(array[int32](a, i, 1)[0])
}

// setPosition sets it to the position behind what has been packed.
func (a *Args) setPosition(i int, wide bool, next int, err error) error {
	switch {
	case err != nil:
		return unraised(err)
	case wide:
		a.setAint(i, next)
	default:
		a.setCount(i, next)
	}
	return nil
}

// unraised is an error of a call that package mpi knows no communicator of, but MPI does.
func unraised(err error) error {
	if r, ok := errors.AsType[*raised](err); ok {
		return r.err
	}
	return err
}
