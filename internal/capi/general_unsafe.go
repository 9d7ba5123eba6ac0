package capi

import (
	"unsafe"

	"github.com/weft-mpi/weft/mpi"
)

// CallQuery, CallFree and CallCancel call the C functions of a generalized request, which
// are addresses, as is extra. They return MPI_SUCCESS or an error code. The command sets
// them. status is that of C.
var (
	CallQuery  func(function, extra uintptr, status unsafe.Pointer) int32
	CallFree   func(function, extra uintptr) int32
	CallCancel func(function, extra uintptr, complete bool) int32
)

// grequestStart is MPI_Grequest_start. Functions may be null.
func grequestStart(a *Args) error {
	extra := uintptr(a.words[3])
	var query func() (mpi.Status, error)
	var free func() error
	var cancel func(bool) error
	if f := uintptr(a.words[0]); f != 0 {
		query = func() (mpi.Status, error) {
			var st status
			st.set(emptyStatus)
			code := CallQuery(f, extra, unsafe.Pointer(&st))
			return st.get(), errorOf(code)
		}
	}
	if f := uintptr(a.words[1]); f != 0 {
		free = func() error { return errorOf(CallFree(f, extra)) }
	}
	if f := uintptr(a.words[2]); f != 0 {
		cancel = func(complete bool) error { return errorOf(CallCancel(f, extra, complete)) }
	}
	r, err := mpi.GrequestStart(world, query, free, cancel)
	if err = a.setRequest(4, r, err); err == nil {
		requests.mark(*a.handleAt(4), general)
	}
	return err
}

// grequestComplete is MPI_Grequest_complete. It ends the handle of a request that has been
// given up.
func grequestComplete(a *Args) error {
	word := a.words[0]
	r, err := requestOf(word)
	if err != nil {
		return err
	}
	err = mpi.GrequestComplete(r)
	if requests.mark(word, completed)&givenUp != 0 {
		requests.drop(word)
	}
	return err
}

// errorOf is the error of a code that a function of the program has returned.
func errorOf(code int32) error {
	if code == 0 {
		return nil
	}
	return &coded{code, fail(mpi.Class(max(code, 0)&maxCode), "a function of the generalized request has returned %d: %s", code, said.text(code))}
}
