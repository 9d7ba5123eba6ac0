package mpi

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// attributes are those of one object: a communicator, a window or a datatype.
type attributes[O any] struct {
	mu    sync.Mutex // guards the rest; no function of the program is called under it
	list  []*attr[O] // in the order in which they were set
	going bool       // they are deleted because the object ends
}

// attr is one attribute.
type attr[O any] struct {
	key   *keyval[O]
	value any
	busy  bool // its delete function runs
}

// keyval is what attributes need of a Keyval, a WinKeyval or a TypeKeyval.
type keyval[O any] struct {
	copy  func(O, any) (any, bool, error) // nil: not copied
	del   func(O, any) error              // nil: nothing to do
	freed atomic.Bool                     // stored by free, loaded by setValue
}

// box holds a value of any type, interfaces that are nil too.
type box[T any] struct{ v T }

var (
	errKeyFreed = errors.New("the key has been freed: make a new one")
	// errGoing is the error of a change while the object ends, and of the end of one that
	// another goroutine ends.
	errGoing = errors.New("another goroutine frees it")
)

// attrError is an error of attributes as a call returns it; ends is the class of the
// objects.
func attrError(call string, ends Class, err error) error {
	switch err {
	case errGoing:
		return badArg(call, ends, "%w", err)
	case errKeyFreed:
		return badArg(call, ErrKeyval, "%w", err)
	}
	return err
}

// free gives up the key.
func (k *keyval[O]) free(call string) error {
	if k.freed.Swap(true) {
		return attrError(call, 0, errKeyFreed)
	}
	return nil
}

// valueOf is an object's value of a key.
func valueOf[T any, O any](s *attributes[O], k *keyval[O]) (value T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.find(k); a != nil {
		return a.value.(box[T]).v, true
	}
	return value, false
}

// setValue sets an object's value of a key.
func setValue[T any, O any](s *attributes[O], of O, k *keyval[O], value T) error {
	if k.freed.Load() {
		return errKeyFreed
	}
	return s.set(of, &attr[O]{key: k, value: box[T]{value}})
}

// all are the attributes in their order.
func (s *attributes[O]) all() []*attr[O] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

func (s *attributes[O]) find(key *keyval[O]) *attr[O] {
	if i := slices.IndexFunc(s.list, func(a *attr[O]) bool { return a.key == key }); i >= 0 {
		return s.list[i]
	}
	return nil
}

// set adds an attribute in the place of an old one, which it deletes.
func (s *attributes[O]) set(of O, a *attr[O]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for { // while del ran, another goroutine may have set it again
		if s.going {
			return errGoing
		}
		old := s.find(a.key)
		if old == nil {
			s.list = append(s.list, a)
			return nil
		}
		if err := s.remove(of, old); err != nil {
			return err
		}
	}
}

func (s *attributes[O]) delete(of O, key *keyval[O]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remove(of, s.find(key))
}

// remove deletes an attribute, unless it is nil. The caller has the lock, which is
// free while the program's function runs.
func (s *attributes[O]) remove(of O, a *attr[O]) error {
	if a == nil {
		return nil
	}
	if a.busy {
		return errors.New("the attribute is being deleted: its delete function has not returned")
	}
	if a.key.del != nil {
		if err := s.callDelete(of, a); err != nil {
			return fmt.Errorf("the delete function of the attribute has failed: %w", err)
		}
	}
	s.list = slices.DeleteFunc(s.list, func(b *attr[O]) bool { return b == a })
	return nil
}

func (s *attributes[O]) callDelete(of O, a *attr[O]) error {
	a.busy = true
	s.mu.Unlock()
	defer func() { // also after a panic
		s.mu.Lock()
		a.busy = false
	}()
	return a.key.del(of, a.value)
}

// copies are the attributes for a duplicate of an object. A communicator asks for them
// before its ranks agree on the duplicate, so that a failure can be part of the agreement.
func (s *attributes[O]) copies(of O) (copied []*attr[O], err error) {
	for _, a := range s.all() {
		if a.key.copy == nil {
			continue
		}
		value, ok, err := a.key.copy(of, a.value)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the copy function of an attribute has failed: %w", err), dropCopies(of, copied))
		}
		if ok {
			copied = append(copied, &attr[O]{key: a.key, value: value})
		}
	}
	return copied, nil
}

// dropCopies deletes what copies has made, since there is no duplicate.
func dropCopies[O any](of O, copied []*attr[O]) (err error) {
	for _, a := range slices.Backward(copied) {
		if a.key.del != nil {
			err = errors.Join(err, a.key.del(of, a.value))
		}
	}
	return err
}

// clear deletes all attributes of an object that ends, the last one first, until one
// can't be deleted. After an error the object can be used on.
func (s *attributes[O]) clear(of O) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.going {
		return errGoing
	}
	s.going = true
	done := false
	defer func() { s.going = done }()
	for len(s.list) > 0 {
		if err := s.remove(of, s.list[len(s.list)-1]); err != nil {
			return err
		}
	}
	done = true
	return nil
}

// reopen has an object that clear was for go on, since its end has failed.
func (s *attributes[O]) reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.going = false
}
