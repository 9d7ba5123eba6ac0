package capi

import "github.com/weft-mpi/weft/mpi"

// emptyStatus is that of null requests, and of persistent ones that are not started
// (MPI-4.0 §3.7.3).
var emptyStatus = mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}

func wait(a *Args) error {
	r, err := a.request(0)
	if err != nil {
		return err
	}
	st, err := r.Wait()
	a.ended(0, r)
	a.setStatus(1, st)
	return err
}

func test(a *Args) error {
	r, err := a.request(0)
	if err != nil {
		return err
	}
	over, st, err := r.Test()
	if a.setFlag(1, over); over || err != nil {
		a.ended(0, r)
		a.setStatus(2, st)
	}
	return err
}

func waitall(a *Args) error {
	l, err := a.requestList(0)
	if err != nil {
		return err
	}
	out := a.statuses(2, len(l.words))
	err = mpi.Waitall(l.requests, l.statusesFor(out))
	l.endAll(out, err)
	l.recycle()
	return err
}

func testall(a *Args) error {
	l, err := a.requestList(0)
	if err != nil {
		return err
	}
	out := a.statuses(3, len(l.words))
	over, err := mpi.Testall(l.requests, l.statusesFor(out))
	if a.setFlag(2, over); over || err != nil {
		l.endAll(out, err)
	}
	l.recycle()
	return err
}

func waitany(a *Args) error {
	l, err := a.requestList(0)
	if err != nil {
		return err
	}
	i, st := 0, emptyStatus
	if len(l.done) > 0 {
		i = l.done[0]
	} else {
		i, st, err = mpi.Waitany(l.requests)
	}
	if i >= 0 {
		l.end(i)
	}
	l.recycle()
	a.setInt(2, i)
	a.setStatus(3, st)
	return err
}

func testany(a *Args) error {
	l, err := a.requestList(0)
	if err != nil {
		return err
	}
	over, i, st := true, 0, emptyStatus
	if len(l.done) > 0 {
		i = l.done[0]
	} else {
		over, i, st, err = mpi.Testany(l.requests)
	}
	if i >= 0 {
		l.end(i)
	}
	l.recycle()
	a.setInt(2, i)
	if a.setFlag(3, over); over {
		a.setStatus(4, st)
	}
	return err
}

func waitsome(a *Args) error { return a.some(mpi.Waitsome) }
func testsome(a *Args) error { return a.some(mpi.Testsome) }

func (a *Args) some(call func([]mpi.Request, []int, []mpi.Status) (int, error)) error {
	l, err := a.requestList(0)
	if err != nil {
		return err
	}
	if len(l.words) > 0 && a.pointer(3) == nil {
		l.recycle()
		return errNull
	}
	out := a.statuses(4, len(l.words))
	if len(l.done) > 0 {
		call = mpi.Testsome // there is nothing to wait for
	}
	n, err := call(l.requests, l.indices, l.statusesFor(out))
	if err == nil || mpi.ErrorClass(err) == mpi.ErrInStatus {
		n = l.withDone(n)
	}
	for _, i := range l.indices[:max(n, 0)] {
		l.end(i)
	}
	a.setInt(2, n)
	a.setInts(3, l.indices, n)
	l.tell(out, n, err)
	l.recycle()
	return err
}
