package mpi

import (
	"sync"
	"sync/atomic"
)

// commState is what all handles of a communicator share.
type commState struct {
	handler atomic.Pointer[Errhandler] // nil: ErrorsReturn; stored by SetErrhandler, loaded by raise
	win     *Win                       // unless nil, the window whose communicator it is
	topo    *topology                  // nil: none
	leaving atomic.Bool                // a goroutine is in Disconnect, whose swap pairs with that of another
	attrs   attributes[*Comm]

	mu    sync.Mutex // guards the rest
	name  *string    // nil: none set
	hints Info
}

// Keyval is the key of attributes of communicators with values of type T: what a
// library keeps with a communicator (MPI-4.0 §7.7.2). A communicator has at most
// one value of each Keyval; all its handles share it. It is safe for concurrent
// use.
type Keyval[T any] struct{ keyval[*Comm] }

// NewKeyval makes an attribute key (MPI_Comm_create_keyval, MPI-4.0 §7.7.2).
//
// copy is called by Dup, on the calling goroutine, with the communicator that is
// duplicated and its value. It returns the value for the duplicate and whether
// there is to be one. If it fails, so does Dup. If copy is nil the attribute is
// not copied.
//
// del, unless it is nil, is called with the communicator and a value that is
// deleted, before that: by Delete, by Set over an old value, by Comm.Free, by
// Finalize for attributes of Self, and by a Dup that has failed for what it had
// copied, with the communicator that was to be duplicated. If it fails, so does
// the call, and the value stays.
//
// Both may make calls, but neither Set nor Delete for the attribute they are
// called for. Attributes that are there when the World ends, other than Self's,
// are not deleted. Local.
func NewKeyval[T any](copy func(*Comm, T) (T, bool, error), del func(*Comm, T) error) *Keyval[T] {
	k := &Keyval[T]{}
	if copy != nil {
		k.copy = func(c *Comm, v any) (any, bool, error) {
			got, ok, err := copy(c, v.(box[T]).v)
			return box[T]{got}, ok, err
		}
	}
	if del != nil {
		k.del = func(c *Comm, v any) error { return del(c, v.(box[T]).v) }
	}
	return k
}

// Get returns the communicator's value, and whether there is one
// (MPI_Comm_get_attr, MPI-4.0 §7.7.2). It fails with ErrKeyval if k is nil. Local.
func (k *Keyval[T]) Get(c *Comm) (value T, ok bool, err error) {
	if err := k.check("Keyval.Get", c); err != nil {
		return value, false, err
	}
	value, ok = valueOf[T](&c.st.attrs, &k.keyval)
	return value, ok, nil
}

// Set sets the communicator's value, after deleting an old one
// (MPI_Comm_set_attr, MPI-4.0 §7.7.2). The error is ErrKeyval after Free. Local.
func (k *Keyval[T]) Set(c *Comm, value T) error {
	const call = "Keyval.Set"
	if err := k.check(call, c); err != nil {
		return err
	}
	return c.fail(call, attrError(call, ErrComm, setValue(&c.st.attrs, c, &k.keyval, value)))
}

// Delete deletes the communicator's value (MPI_Comm_delete_attr, MPI-4.0 §7.7.2).
// Without a value nothing happens. It fails with ErrKeyval if k is nil, and with the
// class of a delete function's error, or ErrOther. Local.
func (k *Keyval[T]) Delete(c *Comm) error {
	const call = "Keyval.Delete"
	if err := k.check(call, c); err != nil {
		return err
	}
	return c.fail(call, c.st.attrs.delete(c, &k.keyval))
}

// Free gives up the key (MPI_Comm_free_keyval, MPI-4.0 §7.7.2): no value can be set
// any more. Values that are there stay until they are deleted. It fails with ErrKeyval
// for a key that is nil or has been freed. Local.
func (k *Keyval[T]) Free() error {
	const call = "Keyval.Free"
	if k == nil {
		return raiseSelf(badArg(call, ErrKeyval, "the Keyval is nil"))
	}
	return raiseSelf(k.keyval.free(call))
}

func (k *Keyval[T]) check(call string, c *Comm) error {
	switch {
	case c.lost():
		return c.explain(call, 0, 0, false)
	case k == nil:
		return c.raise(badArg(call, ErrKeyval, "the Keyval is nil: take what NewKeyval has returned"))
	}
	return nil
}
