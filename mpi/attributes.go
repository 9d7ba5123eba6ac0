package mpi

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// commState is what all handles of a communicator share.
type commState struct {
	handler atomic.Pointer[Errhandler] // nil: ErrorsReturn; stored by SetErrhandler, loaded by raise

	// mu guards the rest. No function of the program is called under it.
	mu    sync.Mutex
	hints Info
	attrs []*attr // in the order in which they were set
	going bool    // attributes are deleted because the communicator ends
}

// attr is an attribute of a communicator.
type attr struct {
	key   *keyval
	value any
	busy  bool // its delete function runs
}

// keyval is what attributes need of a Keyval.
type keyval struct {
	copy  func(*Comm, any) (any, bool, error) // nil: not copied
	del   func(*Comm, any) error              // nil: nothing to do
	freed atomic.Bool                         // stored by Free, loaded by Set
}

// box holds a value of any type, interfaces that are nil too.
type box[T any] struct{ v T }

// Keyval is the key of attributes of communicators with values of type T: what a
// library keeps with a communicator (MPI-4.0 §7.7.2). A communicator has at most
// one value of each Keyval; all its handles share it. It is safe for concurrent
// use.
type Keyval[T any] struct{ keyval }

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
// (MPI_Comm_get_attr, MPI-4.0 §7.7.2). Local.
func (k *Keyval[T]) Get(c *Comm) (value T, ok bool, err error) {
	if err := k.check("Keyval.Get", c); err != nil {
		return value, false, err
	}
	c.st.mu.Lock()
	defer c.st.mu.Unlock()
	if a := c.st.find(&k.keyval); a != nil {
		return a.value.(box[T]).v, true, nil
	}
	return value, false, nil
}

// Set sets the communicator's value, after deleting an old one
// (MPI_Comm_set_attr, MPI-4.0 §7.7.2). The error is ErrKeyval after Free. Local.
func (k *Keyval[T]) Set(c *Comm, value T) error {
	const call = "Keyval.Set"
	if err := k.check(call, c); err != nil {
		return err
	}
	if k.freed.Load() {
		return c.raise(badArg(call, ErrKeyval, "the Keyval has been freed"))
	}
	return c.fail(call, c.st.set(c, &attr{key: &k.keyval, value: box[T]{value}}))
}

// Delete deletes the communicator's value (MPI_Comm_delete_attr, MPI-4.0 §7.7.2).
// Without a value nothing happens. Local.
func (k *Keyval[T]) Delete(c *Comm) error {
	const call = "Keyval.Delete"
	if err := k.check(call, c); err != nil {
		return err
	}
	return c.fail(call, c.st.delete(c, &k.keyval))
}

// Free gives up the key (MPI_Comm_free_keyval, MPI-4.0 §7.7.2): no value can be set
// any more. Values that are there stay until they are deleted. Local.
func (k *Keyval[T]) Free() error {
	if k == nil || k.freed.Swap(true) {
		return badArg("Keyval.Free", ErrKeyval, "the Keyval is nil, or has been freed")
	}
	return nil
}

func (k *Keyval[T]) check(call string, c *Comm) error {
	switch {
	case c.gone():
		return c.explain(call, 0, 0, false)
	case k == nil:
		return c.raise(badArg(call, ErrKeyval, "the Keyval is nil: take what NewKeyval has returned"))
	}
	return nil
}

func (s *commState) find(key *keyval) *attr {
	if i := slices.IndexFunc(s.attrs, func(a *attr) bool { return a.key == key }); i >= 0 {
		return s.attrs[i]
	}
	return nil
}

// set adds an attribute in the place of an old one, which it deletes.
func (s *commState) set(c *Comm, a *attr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for { // while del ran, another goroutine may have set it again
		if s.going {
			return badArg("Keyval.Set", ErrComm, "the communicator is being freed")
		}
		old := s.find(a.key)
		if old == nil {
			s.attrs = append(s.attrs, a)
			return nil
		}
		if err := s.remove(c, old); err != nil {
			return err
		}
	}
}

func (s *commState) delete(c *Comm, key *keyval) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remove(c, s.find(key))
}

// remove deletes an attribute, unless it is nil. The caller has the lock, which is
// free while the program's function runs.
func (s *commState) remove(c *Comm, a *attr) error {
	if a == nil {
		return nil
	}
	if a.busy {
		return errors.New("the attribute is being deleted: its delete function has not returned")
	}
	if a.key.del != nil {
		if err := s.callDelete(c, a); err != nil {
			return fmt.Errorf("the delete function of the attribute has failed: %w", err)
		}
	}
	s.attrs = slices.DeleteFunc(s.attrs, func(b *attr) bool { return b == a })
	return nil
}

func (s *commState) callDelete(c *Comm, a *attr) error {
	a.busy = true
	s.mu.Unlock()
	defer func() { // also after a panic
		s.mu.Lock()
		a.busy = false
	}()
	return a.key.del(c, a.value)
}

// errGoing is the error of an end of a communicator that another goroutine ends.
var errGoing = badArg("Comm.Free", ErrComm, "another goroutine frees the communicator")

// clear deletes all attributes of a communicator that ends, the last one first,
// until one can't be deleted. After an error the communicator can be used on.
func (s *commState) clear(c *Comm) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.going {
		return errGoing
	}
	s.going = true
	done := false
	defer func() { s.going = done }()
	for len(s.attrs) > 0 {
		if err := s.remove(c, s.attrs[len(s.attrs)-1]); err != nil {
			return err
		}
	}
	done = true
	return nil
}

// copies are the attributes for a duplicate of c. It is called before the ranks
// agree on the duplicate, so that a failure can be part of the agreement.
func (c *Comm) copies() (copied []*attr, err error) {
	c.st.mu.Lock()
	list := slices.Clone(c.st.attrs)
	c.st.mu.Unlock()
	for _, a := range list {
		if a.key.copy == nil {
			continue
		}
		value, ok, err := a.key.copy(c, a.value)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the copy function of an attribute has failed: %w", err), c.dropCopies(copied))
		}
		if ok {
			copied = append(copied, &attr{key: a.key, value: value})
		}
	}
	return copied, nil
}

// dropCopies deletes what copies has made, since there is no duplicate.
func (c *Comm) dropCopies(copied []*attr) (err error) {
	for _, a := range slices.Backward(copied) {
		if a.key.del != nil {
			err = errors.Join(err, a.key.del(c, a.value))
		}
	}
	return err
}
