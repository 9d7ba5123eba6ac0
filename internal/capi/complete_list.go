package capi

import (
	"slices"
	"sync"

	"github.com/weft-mpi/weft/mpi"
)

// requestList is the requests of a call with several, in C's memory and in Go's.
type requestList struct {
	words    []uint64   // the program's array of handles
	entries  []*request // in the table; nil for requestNull and requestDone
	requests []mpi.Request
	statuses []mpi.Status
	indices  []int
	done     []int // the indices of requestDone
}

// lists has those that are not in use, so that no call allocates.
var lists = sync.Pool{New: func() any { return new(requestList) }}

// mostListed is how many requests a call may have: more than there can be, and few enough
// to make room for all.
const mostListed = 1 << 25

// longList is how long one may be that is kept.
const longList = 1 << 14

// requestList is the requests of two arguments in a row: count and array.
func (a *Args) requestList(i int) (*requestList, error) {
	n, words := a.int(i), array[uint64](a, i+1, a.int(i))
	switch {
	case n < 0 || n > mostListed:
		return nil, fail(mpi.ErrCount, "%d requests: a list has 0 to %d", n, mostListed)
	case len(words) < n:
		return nil, errNull
	}
	l := lists.Get().(*requestList)
	l.words, l.entries, l.requests = words, slices.Grow(l.entries[:0], n)[:n], slices.Grow(l.requests[:0], n)[:n]
	l.statuses, l.indices = slices.Grow(l.statuses[:0], n)[:n], slices.Grow(l.indices[:0], n)[:n]
	l.done = l.done[:0]
	for k, word := range words {
		e := requests.find(word)
		l.entries[k] = e
		switch {
		case e != nil:
			l.requests[k] = e.r
		case word == requestDone:
			l.requests[k], l.done = mpi.Request{}, append(l.done, k)
		case word == requestNull:
			l.requests[k] = mpi.Request{}
		default:
			l.recycle()
			return nil, fail(mpi.ErrRequest, "request %d of the list: %w", k, errRequest)
		}
	}
	return l, nil
}

// recycle ends the use of the list.
func (l *requestList) recycle() {
	if l.words = nil; cap(l.requests) <= longList {
		lists.Put(l)
	}
}

// statuses is n statuses at argument i, nil for MPI_STATUSES_IGNORE.
func (a *Args) statuses(i, n int) []status { return array[status](a, i, n) }

// statusesFor is where a call of mpi puts what out is to have, nil if that is.
func (l *requestList) statusesFor(out []status) []mpi.Status {
	if out == nil {
		return nil
	}
	return l.statuses
}

// end sets the handle with that index to null if its request is.
func (l *requestList) end(i int) {
	if !l.requests[i].Null() {
		return
	}
	if e := l.entries[i]; e != nil {
		requests.release(e, l.words[i])
	}
	l.words[i] = requestNull
}

// active reports whether the request with that index is one to be completed.
func (l *requestList) active(i int) bool {
	return l.words[i] == requestDone || l.requests[i].Active()
}

// withDone puts those that are requestDone before the first n that a call has found, and
// returns how many there are then.
func (l *requestList) withDone(n int) int {
	k := len(l.done)
	if k == 0 {
		return n
	}
	n = max(n, 0)
	copy(l.indices[k:], l.indices[:n])
	copy(l.statuses[k:], l.statuses[:n])
	for i, index := range l.done {
		l.indices[i], l.statuses[i] = index, emptyStatus
	}
	return k + n
}

// endAll is end for all requests, and tells their statuses to C. err is the error of the
// call.
func (l *requestList) endAll(out []status, err error) {
	for i := range l.words {
		l.end(i)
	}
	l.tell(out, len(l.words), err)
}

// tell writes the first n statuses to out, unless that is nil. Their errors are there if
// the call's is MPI_ERR_IN_STATUS; if it is another one there are no statuses.
func (l *requestList) tell(out []status, n int, err error) {
	within := err != nil && mpi.ErrorClass(err) == mpi.ErrInStatus
	if out == nil || err != nil && !within {
		return
	}
	for i := range l.statuses[:max(n, 0)] {
		out[i].set(l.statuses[i])
		if !within {
			continue
		}
		if out[i].err = 0; l.statuses[i].Err != nil {
			out[i].err = said.code(l.statuses[i].Err)
		}
	}
}
