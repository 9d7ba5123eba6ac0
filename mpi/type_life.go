package mpi

import "github.com/weft-mpi/weft/internal/datatype"

// Commit prepares the type for communication (MPI_Type_commit, MPI-4.0 §5.1.9).
// Committing it again does nothing. It fails with ErrType for a type that is nil or
// freed. Local.
func (d *Datatype) Commit() error {
	const call = "Datatype.Commit"
	if err := d.refuse(call); err != nil {
		return raiseSelf(err)
	}
	return raiseSelf(typeFailure(call, d.t.Commit()))
}

// Committed reports whether the type can be used for communication; nil and a freed one
// can't. Local.
func (d *Datatype) Committed() bool { return d.usable() == nil && d.t.Committed() }

// Dup is another type with the same elements, and with the attributes that have copy
// functions (MPI_Type_dup, MPI-4.0 §5.1.10). It is committed if d is, and has no name. If a
// copy function fails, so does Dup. Errors are those of Commit, and the class of a copy
// function's error, or ErrOther. Local.
func (d *Datatype) Dup() (*Datatype, error) {
	const call = "Datatype.Dup"
	if err := d.refuse(call); err != nil {
		return nil, raiseSelf(err)
	}
	t, err := datatype.Dup(d.t)
	if err != nil {
		return nil, raiseSelf(typeFailure(call, err))
	}
	copied, err := d.attrs.copies(d)
	if err != nil {
		return nil, raiseSelf(fail(call, err))
	}
	dup := &Datatype{t: t, parts: []*Datatype{d}}
	dup.attrs.list = copied
	return dup, nil
}

// Free gives the type up (MPI_Type_free, MPI-4.0 §5.1.9): it calls the delete functions of
// the type's attributes, the last one's first, and calls with the type fail with ErrType
// from then on. Operations under way go on, and types that were made of it stay as they
// are. A type without attributes need not be freed. If a delete function fails, so does
// Free, and the type can be used on.
//
// Predefined types, those of TypeOf and those of views belong to all of the program: they
// are refused with ErrType. Local.
func (d *Datatype) Free() error {
	const call = "Datatype.Free"
	if err := d.refuse(call); err != nil {
		return raiseSelf(err)
	}
	if d.shared {
		return raiseSelf(badArg(call, ErrType, "%v belongs to all of the program, like every predefined type and those of TypeOf and of views: only what a constructor has returned is freed", d))
	}
	if err := d.attrs.clear(d); err != nil {
		return raiseSelf(fail(call, attrError(call, ErrType, err)))
	}
	d.freed.Store(true)
	return nil
}
