package mpi

// NewWinErrhandler makes an error handler of a function, for windows
// (MPI_Win_create_errhandler, MPI-4.0 §9.3.2). What NewErrhandler says of f holds here
// too: f is called with the window that the call is about, or whose request it is. If f
// is nil the result is ErrorsReturn. Local.
func NewWinErrhandler(f func(w *Win, err error) error) *Errhandler {
	if f == nil {
		return ErrorsReturn
	}
	return &Errhandler{win: f}
}

// SetErrhandler sets the error handler of the window (MPI_Win_set_errhandler, MPI-4.0
// §9.3.2); nil is ErrorsReturn, which every window begins with, whatever its communicator
// has. It sees the errors of calls on the window and of requests of its operations; those
// of the call that makes the window are the communicator's. A handler of NewErrhandler or
// NewSessionErrhandler is ErrErrhandler. Local.
func (w *Win) SetErrhandler(h *Errhandler) error {
	const call = "Win.SetErrhandler"
	switch {
	case w.gone():
		return w.explain(call)
	case h != nil && (h.fn != nil || h.session != nil):
		return w.raise(badArg(call, ErrErrhandler, "the handler is one of NewErrhandler or NewSessionErrhandler: make one with NewWinErrhandler"))
	}
	w.c.st.handler.Store(h.stored())
	return nil
}

// Errhandler is the error handler of the window (MPI_Win_get_errhandler, MPI-4.0
// §9.3.2), or nil if w is nil. Local.
func (w *Win) Errhandler() *Errhandler {
	if w == nil {
		return nil
	}
	return w.c.Errhandler()
}

// CallErrhandler has the window's error handler see an error of the program, and returns
// what a call with this error would return (MPI_Win_call_errhandler, MPI-4.0 §9.5).
// Without an error nothing happens. Its own error is ErrWin, after Free. Local.
func (w *Win) CallErrhandler(err error) error {
	if w.gone() {
		return w.explain("Win.CallErrhandler")
	}
	return w.raise(err)
}

// errForWindows is the error of a handler of NewWinErrhandler for anything else.
func errForWindows(call string) error {
	return badArg(call, ErrErrhandler, "the handler is one of NewWinErrhandler, for windows: make one with NewErrhandler, or NewSessionErrhandler for a session")
}
