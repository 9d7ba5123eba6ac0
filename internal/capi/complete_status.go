package capi

import "github.com/weft-mpi/weft/mpi"

// The calls that say what the others would, and leave the requests (MPI-4.1 §3.7.6).

func requestGetStatus(a *Args) error {
	r, err := requestOf(a.words[0])
	if err != nil {
		return err
	}
	over, st, err := mpi.RequestStatus(r)
	if a.setFlag(1, over); over {
		a.setStatus(2, st)
	}
	return err
}

func requestGetStatusAny(a *Args) error {
	l, err := a.requestList(0)
	if err != nil {
		return err
	}
	none, over, index, st := true, false, mpi.Undefined, emptyStatus
	for i, r := range l.requests {
		if !l.active(i) {
			continue
		}
		none = false
		if over, st, err = mpi.RequestStatus(r); over || err != nil {
			index = i
			break
		}
	}
	l.recycle()
	a.setInt(2, index)
	if a.setFlag(3, over || none); over || none {
		a.setStatus(4, st)
	}
	return err
}

func requestGetStatusAll(a *Args) error {
	l, err := a.requestList(0)
	if err != nil {
		return err
	}
	over := true
	for i := range l.requests {
		over = l.look(i, i) && over
	}
	if a.setFlag(2, over); over {
		err = l.peeked(a.statuses(3, len(l.words)), len(l.words))
	}
	l.recycle()
	return err
}

func requestGetStatusSome(a *Args) error {
	l, err := a.requestList(0)
	if err != nil {
		return err
	}
	if len(l.words) > 0 && a.pointer(3) == nil {
		l.recycle()
		return errNull
	}
	none, n := true, 0
	for i := range l.requests {
		if !l.active(i) {
			continue
		}
		if none = false; l.look(i, n) {
			l.indices[n] = i
			n++
		}
	}
	if a.setInt(2, n); none {
		a.setInt(2, mpi.Undefined)
	}
	a.setInts(3, l.indices, n)
	err = l.peeked(a.statuses(4, len(l.words)), n)
	l.recycle()
	return err
}

// look reports whether the request with that index has completed. Its status and error are
// those with the index at then.
func (l *requestList) look(i, at int) bool {
	over, st, err := mpi.RequestStatus(l.requests[i])
	st.Err = err
	l.statuses[at] = st
	return over || err != nil
}

// peeked tells the first n statuses to C, and returns the error of a call that has looked at
// them.
func (l *requestList) peeked(out []status, n int) (err error) {
	for i := range l.statuses[:n] {
		if first := l.statuses[i].Err; first != nil {
			if err = first; out != nil {
				err = fail(mpi.ErrInStatus, "%w", first)
			}
			break
		}
	}
	l.tell(out, n, err)
	return err
}
