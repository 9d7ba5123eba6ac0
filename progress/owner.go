package progress

// The program has an object for each communicator, of which the loop knows
// nothing: a handle carries a number of the program's instead. So an error leads
// to its communicator even where the call that completes the request has set the
// handle to null.

// For returns the handle with the number of what the request belongs to, which is
// not 0.
func (h Handle) For(owner uint32) Handle {
	h.owner = owner
	return h
}

// Owner returns the number given by For, or 0, and what Own has set for the
// handle's loop, or nil. For anyone.
func (h Handle) Owner() (program any, owner uint32) {
	if h.r == nil {
		return nil, 0
	}
	return h.r.loop.program, h.owner
}

// Own sets what Handle.Owner returns for this loop's handles. It is called before
// there are any.
func (l *Loop) Own(program any) { l.program = program }

// Failed is the error of a request whose handle has an owner. Calls that complete
// requests return it, but not for ErrCancelled and generalized requests.
type Failed struct {
	Handle Handle
	Err    error
}

func (e *Failed) Error() string { return e.Err.Error() }
func (e *Failed) Unwrap() error { return e.Err }

// blame adds the handle to the error of its request.
func (h Handle) blame(err error) error {
	if err == nil || h.owner == 0 || err == ErrCancelled {
		return err
	}
	if _, ok := err.(*General); ok {
		return err
	}
	return &Failed{h, err}
}
