package progress

import (
	"errors"
	"fmt"
)

// Errors of the calls that complete requests.
var (
	// ErrStale is what the error is for a handle whose request has been waited for
	// already, or that another goroutine waits for. Where an operation is
	// required it is also that of a null handle, or one at rest.
	ErrStale = errors.New("no operation is under way for this request")
	// ErrMixed is returned by a call with requests of more than one rank.
	ErrMixed = errors.New("it belongs to another World than those before it: make a call for each World")
)

// staleError is an ErrStale that says why.
type staleError string

func (e staleError) Error() string        { return string(e) }
func (e staleError) Is(target error) bool { return target == ErrStale }

const (
	errNull     staleError = "the request is null: it has been completed or freed with this handle, or none has been started"
	errSpent    staleError = "the request has been completed or freed already, by a copy of this handle, or it is in the list twice: complete it once"
	errTwice    staleError = "the request is in the list twice: leave one of them out"
	errResting  staleError = "the persistent request is not active: call Start first"
	errDetached staleError = "the request has been given up by RequestFree, or detached by OnComplete: no call can wait for it any more"
	errWaited   staleError = "another goroutine waits for the request: leave it to one of them"
	errEnded    staleError = "GrequestComplete has been called for the request already: call it once"
	errOther    staleError = "the request is not of GrequestStart: other operations complete by themselves"
)

// IndexError is the error of the request with that index, in a call with several.
type IndexError struct {
	Index int
	Err   error
}

func (e *IndexError) Error() string { return fmt.Sprintf("request %d: %v", e.Index, e.Err) }
func (e *IndexError) Unwrap() error { return e.Err }

// Handle refers to a request of the user's. It stays safe to use after the
// request has been freed: it does not match the slot's next request. The zero
// Handle is the null request.
type Handle struct {
	r     *Request
	gen   uint32
	owner uint32 // see For
}

// Handle returns the handle of a request just started.
func (r *Request) Handle() Handle { return Handle{r: r, gen: r.gen} }

// Null reports whether h is the null request.
func (h Handle) Null() bool { return h.r == nil }

// idle reports whether there is nothing to wait for: h is null, or a persistent
// request that is not started. For the owner.
func (h Handle) idle() bool { return h.r == nil || h.r.resting && h.r.gen == h.gen }

// valid reports whether the handle may be completed by the caller.
func (h Handle) valid() bool {
	if h.r.gen == instant {
		return h.r.loop.instants.open(h.gen)
	}
	return h.r.gen == h.gen && h.r.waiter == nil
}

// stale is why there is nothing to complete for the caller, whose waiter is w. For the
// owner.
func (h Handle) stale(w *Waiter) error {
	switch r := h.r; {
	case r == nil:
		return errNull
	case r.gen != h.gen:
		return errSpent
	case r.resting:
		return errResting
	case r.waiter == nil:
		return errSpent
	case r.waiter == w:
		return errTwice
	case r.waiter.detached != nil:
		return errDetached
	}
	return errWaited
}

// spend sets h to null. The handle of a persistent request stays until
// RequestFree. It returns the old handle.
func (h *Handle) spend() Handle {
	was := *h
	if !h.r.special || h.r.saved == nil || h.r.gen != h.gen {
		*h = Handle{}
	}
	return was
}

// collect spends the handle of a request that has completed and is valid.
func (h Handle) collect() (Result, error) {
	l := h.r.loop
	if h.r.gen == instant {
		l.instants.close(h.gen)
		return nothing, nil
	}
	res, err := l.collect(h.r)
	return res, h.blame(err)
}

// over reports whether a call can go on with the request: it has completed, or is in
// doubt.
func (h Handle) over() bool { return !h.idle() && h.valid() && (h.r.done || h.r.inDoubt()) }

// complete does for one request of several what a wait does behind its end. A stale
// handle, or a request in doubt, is an error.
func (h *Handle) complete() (Result, error) {
	was := *h
	switch {
	case h.idle():
		return nothing, nil
	case !h.valid():
		*h = Handle{}
		return nothing, was.blame(was.stale(nil))
	case h.r.inDoubt():
		return nothing, was.blame(h.r.err)
	}
	h.spend()
	return was.collect()
}

// loopOf is the loop of the requests, or nil if all handles are null.
func loopOf(hs []Handle) (*Loop, error) {
	var l *Loop
	for i, h := range hs {
		switch {
		case h.r == nil, h.r.loop == l, l != nil && h.r.loop.lone():
		case l == nil, l.lone():
			l = h.r.loop
		default:
			return nil, &IndexError{i, ErrMixed}
		}
	}
	return l, nil
}
