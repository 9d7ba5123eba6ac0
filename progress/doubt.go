package progress

// A request is in doubt while nobody knows whether what it waits for can still come.
// Waits for it end with an error and tests fail, but it stays under way and its handle is
// kept. Its err says why until it has completed.

// Doubted is the error of a wait for, or a test of, a request in doubt.
type Doubted struct{ Err error }

func (d *Doubted) Error() string { return d.Err.Error() }
func (d *Doubted) Unwrap() error { return d.Err }

// Doubt puts a request that has not completed in doubt, until it completes or Trust is
// called: waits for it, now and later, end with err. A callback of OnEnd stays until the
// request has completed. For the owner.
func (l *Loop) Doubt(r *Request, err error) {
	if r.done {
		return
	}
	l.doubted = true
	r.err = &Doubted{err}
	w := r.waiter
	if w == nil || w.detached != nil {
		return
	}
	r.waiter = nil
	if w.single == r {
		w.result, w.err = nothing, r.err
	}
	l.lessen(w)
}

// Trust undoes Doubt. For the owner.
func (l *Loop) Trust(r *Request) {
	if !r.done {
		r.err = nil
	}
}

// inDoubt reports whether a wait for the request ends with its err, though it has not
// completed.
func (r *Request) inDoubt() bool { return !r.done && r.err != nil }
