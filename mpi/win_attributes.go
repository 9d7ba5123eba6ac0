package mpi

// WinKeyval is the key of attributes of windows with values of type T: what a library
// keeps with a window (MPI-4.0 §7.7.3). A window has at most one value of each
// WinKeyval. It is safe for concurrent use. The predefined attributes are methods:
// Window.Local (MPI_WIN_BASE), Size, DispUnit, Flavor and Model of Win.
type WinKeyval[T any] struct{ keyval[*Win] }

// NewWinKeyval makes an attribute key (MPI_Win_create_keyval, MPI-4.0 §7.7.3). It has no
// copy function, since windows are not duplicated.
//
// del, unless it is nil, is called with the window and a value that is deleted, before
// that: by Delete, by Set over an old value, and by Win.Free. If it fails, so does the
// call, and the value stays. It may make calls, but neither Set nor Delete for the
// attribute it is called for. Attributes of windows that are not freed are not deleted.
// Local.
func NewWinKeyval[T any](del func(*Win, T) error) *WinKeyval[T] {
	k := &WinKeyval[T]{}
	if del != nil {
		k.del = func(w *Win, v any) error { return del(w, v.(box[T]).v) }
	}
	return k
}

// Get returns the window's value, and whether there is one (MPI_Win_get_attr, MPI-4.0
// §7.7.3). It fails with ErrKeyval if k is nil. Local.
func (k *WinKeyval[T]) Get(w *Win) (value T, ok bool, err error) {
	if err := k.check("WinKeyval.Get", w); err != nil {
		return value, false, err
	}
	value, ok = valueOf[T](&w.attrs, &k.keyval)
	return value, ok, nil
}

// Set sets the window's value, after deleting an old one (MPI_Win_set_attr, MPI-4.0
// §7.7.3). The error is ErrKeyval after Free. Local.
func (k *WinKeyval[T]) Set(w *Win, value T) error {
	const call = "WinKeyval.Set"
	if err := k.check(call, w); err != nil {
		return err
	}
	return w.fail(call, attrError(call, ErrWin, setValue(&w.attrs, w, &k.keyval, value)))
}

// Delete deletes the window's value (MPI_Win_delete_attr, MPI-4.0 §7.7.3). Without a
// value nothing happens. It fails with ErrKeyval if k is nil, and with the class of a
// delete function's error, or ErrOther. Local.
func (k *WinKeyval[T]) Delete(w *Win) error {
	const call = "WinKeyval.Delete"
	if err := k.check(call, w); err != nil {
		return err
	}
	return w.fail(call, w.attrs.delete(w, &k.keyval))
}

// Free gives up the key (MPI_Win_free_keyval, MPI-4.0 §7.7.3): no value can be set any
// more. Values that are there stay until they are deleted. It fails with ErrKeyval for
// a key that is nil or has been freed. Local.
func (k *WinKeyval[T]) Free() error {
	const call = "WinKeyval.Free"
	if k == nil {
		return raiseSelf(badArg(call, ErrKeyval, "the WinKeyval is nil"))
	}
	return raiseSelf(k.keyval.free(call))
}

func (k *WinKeyval[T]) check(call string, w *Win) error {
	switch {
	case w.gone():
		return w.explain(call)
	case k == nil:
		return w.raise(badArg(call, ErrKeyval, "the WinKeyval is nil: take what NewWinKeyval has returned"))
	}
	return nil
}
