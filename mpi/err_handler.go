package mpi

import "errors"

// Errhandler is what a communicator does with the errors of its calls
// (MPI_Errhandler, MPI-4.0 §9.3): ErrorsReturn, ErrorsAreFatal, ErrorsAbort, or one
// of NewErrhandler; and what a Session or a window does. The handler of the object that
// a call is about sees each error of the call once, before the call returns; that of a
// request is its communicator's, at the call that completes the request. Of several
// requests that have failed only the first one's handler is called.
//
// An error without an object goes to Self's: of World.BufferAttach, say, of Alloc, and of
// calls on a Group, an Info, a Status, an operator, a datatype or an error class. Where
// ranks are goroutines, that is the Self of the rank that makes the call, and for other
// goroutines than Run's that of the lowest rank in the process. After Finalize no handler
// is called, and the error of Finalize itself is only returned.
type Errhandler struct {
	fn      func(*Comm, error) error    // of NewErrhandler
	session func(*Session, error) error // of NewSessionErrhandler
	win     func(*Win, error) error     // of NewWinErrhandler
	fatal   bool                        // the predefined ones have no function
}

// The predefined error handlers.
var (
	// ErrorsReturn has calls return their errors, and nothing else. In Go it is what
	// every communicator begins with (MPI_ERRORS_RETURN, MPI-4.0 §9.3).
	ErrorsReturn = &Errhandler{}
	// ErrorsAreFatal ends the job, as World.Abort does. The exit code is the error's
	// class, or 1 where that is above 255 (MPI_ERRORS_ARE_FATAL, MPI-4.0 §9.3).
	ErrorsAreFatal = &Errhandler{fatal: true}
	// ErrorsAbort ends the ranks of the communicator (MPI_ERRORS_ABORT, MPI-4.0 §9.3).
	// The standard lets an abort end more ranks, and here it ends the job.
	ErrorsAbort = &Errhandler{fatal: true}
)

// NewErrhandler makes an error handler of a function (MPI_Comm_create_errhandler,
// MPI-4.0 §9.3.1). f is called on the goroutine of the call, with the handle that
// the call was made on, or, for a request, with one of its communicator; for a
// request that OnComplete has detached it is called where its callback is. What it
// returns is the error of the call; nil leaves the error as it is, since a handler
// can't make a failed call succeed. f may make calls, whose errors call it again.
// Any number of goroutines may call it at once. If f is nil the result is
// ErrorsReturn. There is nothing to free. Local.
func NewErrhandler(f func(c *Comm, err error) error) *Errhandler {
	if f == nil {
		return ErrorsReturn
	}
	return &Errhandler{fn: f}
}

// NewSessionErrhandler makes an error handler of a function, for sessions
// (MPI_Session_create_errhandler, MPI-4.0 §9.3.4). What NewErrhandler says of f holds
// here too. A communicator of the session may have it as well: then f is called with
// the session. If f is nil the result is ErrorsReturn. Local.
func NewSessionErrhandler(f func(s *Session, err error) error) *Errhandler {
	if f == nil {
		return ErrorsReturn
	}
	return &Errhandler{session: f}
}

// SetErrhandler sets the error handler of the communicator, for all its handles
// (MPI_Comm_set_errhandler, MPI-4.0 §9.3.1); nil is ErrorsReturn. What Dup makes
// from then on has it too. A handler of NewSessionErrhandler is ErrErrhandler, unless
// the communicator is a session's, and so is one of NewWinErrhandler. Local.
func (c *Comm) SetErrhandler(h *Errhandler) error {
	const call = "Comm.SetErrhandler"
	if c.lost() {
		return c.explain(call, 0, 0, false)
	}
	switch {
	case h == nil:
	case h.session != nil && c.w.session == nil:
		return c.raise(badArg(call, ErrErrhandler, "the handler is one of NewSessionErrhandler, and the communicator belongs to no session"))
	case h.win != nil:
		return c.raise(errForWindows(call))
	}
	c.st.handler.Store(h.stored())
	return nil
}

// Errhandler is the error handler of the communicator
// (MPI_Comm_get_errhandler, MPI-4.0 §9.3.1), or nil if c is nil. Local.
func (c *Comm) Errhandler() *Errhandler {
	if c == nil || c.st == nil {
		return nil
	}
	if h := c.st.handler.Load(); h != nil {
		return h
	}
	return ErrorsReturn
}

// CallErrhandler has the communicator's error handler see an error of the program,
// and returns what a call with this error would return
// (MPI_Comm_call_errhandler, MPI-4.0 §9.5). Without an error nothing happens. Its own
// error is ErrComm, after Free. Local.
func (c *Comm) CallErrhandler(err error) error {
	if c.lost() {
		return c.explain("Comm.CallErrhandler", 0, 0, false)
	}
	return c.raise(err)
}

// stored is how an object keeps the handler: nil stands for ErrorsReturn.
func (h *Errhandler) stored() *Errhandler {
	if h == nil || h.fn == nil && h.session == nil && h.win == nil && !h.fatal {
		return nil
	}
	return h
}

// handle calls the handler. aside means that the calling goroutine must go on.
func (h *Errhandler) handle(c *Comm, err error, aside bool) error {
	switch {
	case h.fatal:
		code := int(ErrorClass(err))
		if code < 1 || code > 255 {
			code = 1
		}
		c.w.abort(code, err.Error(), aside)
	case h.fn != nil:
		if told := h.fn(c, err); told != nil {
			return told
		}
	case h.win != nil && c.st.win != nil:
		if told := h.win(c.st.win, err); told != nil {
			return told
		}
	case h.session != nil && c.w.session != nil:
		if told := h.session(c.w.session, err); told != nil {
			return told
		}
	}
	return err
}

// aborted returns the Abort that has ended the ranks of this process, or nil.
func (in *instance) aborted() error {
	if in.crew == nil {
		return nil
	}
	if e := in.crew.abort.Load(); e != nil {
		return e
	}
	return nil
}

// isAborted reports whether err comes from an Abort.
func isAborted(err error) bool { return errors.As(err, new(*AbortError)) }
