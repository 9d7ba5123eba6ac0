package mpi

// TypeKeyval is the key of attributes of datatypes with values of type T: what a library
// keeps with a type (MPI-4.0 §7.7.4). A Datatype has at most one value of each TypeKeyval.
// Predefined types have attributes too; ranks that are goroutines share those, as they
// share the types. It is safe for concurrent use.
type TypeKeyval[T any] struct{ keyval[*Datatype] }

// NewTypeKeyval makes an attribute key (MPI_Type_create_keyval, MPI-4.0 §7.7.4).
//
// copy is called by Datatype.Dup with the type that is duplicated and its value. It returns
// the value for the duplicate and whether there is to be one. If it fails, so does Dup. If
// copy is nil the attribute is not copied.
//
// del, unless it is nil, is called with the type and a value that is deleted, before that:
// by Delete, by Set over an old value, by Datatype.Free, and by a Dup that has failed for
// what it had copied, with the type that was to be duplicated. If it fails, so does the
// call, and the value stays.
//
// Both may make calls, but neither Set nor Delete for the attribute they are called for.
// Attributes of types that are not freed are not deleted. Local.
func NewTypeKeyval[T any](copy func(*Datatype, T) (T, bool, error), del func(*Datatype, T) error) *TypeKeyval[T] {
	k := &TypeKeyval[T]{}
	if copy != nil {
		k.copy = func(d *Datatype, v any) (any, bool, error) {
			got, ok, err := copy(d, v.(box[T]).v)
			return box[T]{got}, ok, err
		}
	}
	if del != nil {
		k.del = func(d *Datatype, v any) error { return del(d, v.(box[T]).v) }
	}
	return k
}

// Get returns the type's value, and whether there is one (MPI_Type_get_attr, MPI-4.0
// §7.7.4). It fails with ErrType for a type that is nil or freed, and ErrKeyval if k is
// nil. Local.
func (k *TypeKeyval[T]) Get(d *Datatype) (value T, ok bool, err error) {
	if err := k.check("TypeKeyval.Get", d); err != nil {
		return value, false, raiseSelf(err)
	}
	value, ok = valueOf[T](&d.attrs, &k.keyval)
	return value, ok, nil
}

// Set sets the type's value, after deleting an old one (MPI_Type_set_attr, MPI-4.0
// §7.7.4). The error is ErrKeyval after Free of the key. Local.
func (k *TypeKeyval[T]) Set(d *Datatype, value T) error {
	const call = "TypeKeyval.Set"
	if err := k.check(call, d); err != nil {
		return raiseSelf(err)
	}
	return raiseSelf(fail(call, attrError(call, ErrType, setValue(&d.attrs, d, &k.keyval, value))))
}

// Delete deletes the type's value (MPI_Type_delete_attr, MPI-4.0 §7.7.4). Without a value
// nothing happens. Errors are those of Get, and the class of a delete function's error,
// or ErrOther. Local.
func (k *TypeKeyval[T]) Delete(d *Datatype) error {
	const call = "TypeKeyval.Delete"
	if err := k.check(call, d); err != nil {
		return raiseSelf(err)
	}
	return raiseSelf(fail(call, d.attrs.delete(d, &k.keyval)))
}

// Free gives up the key (MPI_Type_free_keyval, MPI-4.0 §7.7.4): no value can be set any
// more. Values that are there stay until they are deleted. It fails with ErrKeyval for
// a key that is nil or has been freed. Local.
func (k *TypeKeyval[T]) Free() error {
	const call = "TypeKeyval.Free"
	if k == nil {
		return raiseSelf(badArg(call, ErrKeyval, "the TypeKeyval is nil"))
	}
	return raiseSelf(k.keyval.free(call))
}

func (k *TypeKeyval[T]) check(call string, d *Datatype) error {
	if err := d.refuse(call); err != nil {
		return err
	}
	if k == nil {
		return badArg(call, ErrKeyval, "the TypeKeyval is nil: take what NewTypeKeyval has returned")
	}
	return nil
}
