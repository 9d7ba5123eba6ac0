package progress

import (
	"cmp"
	"errors"
	"slices"
)

// WaitAny blocks until one request has completed, treats it as Wait does and
// returns its index, or -1 if all are null or at rest. If none has completed, one that is
// in doubt ends the wait with a Doubted.
func WaitAny(hs []Handle) (int, Status, error) {
	c := multiple{hs: hs, goal: anyDone}
	c.wait(false)
	return c.n, c.res.Status(), c.err
}

// TestAny makes progress and, if a request has completed, does as WaitAny. If
// all are null or at rest it returns true and -1. Local.
func TestAny(hs []Handle) (ended bool, i int, st Status, err error) {
	c := multiple{hs: hs, goal: anyDone}
	ended = c.test()
	return ended, c.n, c.res.Status(), c.err
}

// WaitSome blocks until at least one request has completed and treats all that
// have as Wait does. It returns their number, with their indices in indices and
// their statuses and errors in out, both as long as hs; -1 if all are null or at
// rest. Requests in doubt count as failed, and their handles stay.
func WaitSome(hs []Handle, indices []int, out []Status) (int, error) {
	c := multiple{hs: hs, goal: someDone, indices: indices, out: out}
	c.wait(false)
	return c.n, c.err
}

// TestSome makes progress and does as WaitSome with the requests that have
// completed; it returns 0 if there are none. Local.
func TestSome(hs []Handle, indices []int, out []Status) (n int, err error) {
	c := multiple{hs: hs, goal: someDone, indices: indices, out: out}
	if !c.test() && !errors.Is(c.err, ErrMixed) {
		return 0, c.err
	}
	return c.n, c.err
}

// collectAny completes the first request that has completed, else one in doubt.
func collectAny(hs []Handle) (int, Result, error) {
	at := slices.IndexFunc(hs, func(h Handle) bool { return h.r != nil && h.r.done && h.valid() })
	if at < 0 {
		at = slices.IndexFunc(hs, Handle.over)
	}
	if at < 0 {
		return -1, nothing, nil
	}
	res, err := hs[at].complete()
	return at, res, err
}

// collectSome completes all requests that have completed, or are in doubt.
func collectSome(hs []Handle, indices []int, out []Status) (n int) {
	for i := range hs {
		if hs[i].over() {
			res, err := hs[i].complete()
			indices[n], out[n] = i, res.Status()
			out[n].Err = err
			n++
		}
	}
	return cmp.Or(n, -1)
}
