package mpi

import "github.com/weft-mpi/weft/progress"

// GrequestStart starts an operation of the caller's own, whose request is waited
// for, tested, cancelled and freed like any other (MPI_Grequest_start, MPI-4.0
// §13.2). GrequestComplete completes the operation. The functions may be nil.
//
// query returns the status of the completed operation, and the error of the call
// that completes the request; it may be called more than once. free is called
// once, after the last query, by the call that completes the request. If the
// request was given up with RequestFree, free is called by the later of that
// call and GrequestComplete, which return its error. cancel is called by Cancel,
// with whether the operation has completed. The functions run on the calling
// goroutine; those of a request that OnComplete has detached run where its
// callback does. Finalize fails operations that have not completed, and calls free
// of those given up. It has no errors but the general ones. Local.
func GrequestStart(w *World, query func() (Status, error), free func() error, cancel func(completed bool) error) (Request, error) {
	if err := w.check("GrequestStart"); err != nil {
		return Request{}, err
	}
	g := &progress.General{Free: free, Cancel: cancel, Owner: w.self}
	if query != nil {
		g.Query = func() (progress.Status, error) {
			st, err := query()
			return progress.Status(st), err
		}
	}
	return w.self.request(w.engine.Loop.Generalize(g)), nil
}

// GrequestComplete completes the operation of a generalized request
// (MPI_Grequest_complete, MPI-4.0 §13.2). Its handle is waited for as usual. If
// the request was given up with RequestFree before, free is called here, and its
// error returned. It fails with ErrRequest for another request, or one that has been
// completed. Local.
func GrequestComplete(r Request) error {
	g, err := progress.EndGeneral(r.h)
	if g != nil && g.Free != nil {
		err = g.Free()
	}
	return r.fail("GrequestComplete", err)
}

// tell turns the status and error of a completed request into those that users
// see, and returns the communicator whose error it is, or nil. last means that the
// request is freed by that.
func tell(st Status, err error, last bool) (Status, *Comm, error) {
	var c *Comm
	if one, ok := err.(*progress.IndexError); ok {
		st, c, err = tell(st, one.Err, last)
		return st, c, ofRequest(one.Index, c.cause(err))
	}
	if f, ok := err.(*progress.Failed); ok {
		c, err = Request{f.Handle}.comm(), f.Err
	}
	if err == progress.ErrCancelled {
		st.Cancelled = true
		return st, c, nil
	}
	g, ok := err.(*progress.General)
	if !ok {
		return st, c, err
	}
	c, _ = g.Owner.(*Comm)
	err = nil
	if g.Query != nil {
		var told progress.Status
		told, err = g.Query()
		st = Status(told)
	}
	if last && g.Free != nil {
		if e := g.Free(); err == nil {
			err = e
		}
	}
	return st, c, err
}

// tellSeveral does as tell for a call that completed requests without statuses.
func tellSeveral(err error) (c *Comm, _ error) {
	several, ok := err.(*progress.Several)
	if !ok {
		_, c, err = tell(Status{}, err, true)
		return c, err
	}
	if err = several.First; err != nil {
		_, c, err = tell(Status{}, err, true)
	}
	for _, g := range several.Generals {
		if _, of, e := tell(Status{}, g, true); err == nil {
			c, err = of, e
		}
	}
	return c, err
}
