package progress

import "errors"

// Firm is a sink whose requests can only be completed: the program neither cancels
// them nor gives them up. MPI forbids both for collective operations (MPI-4.0 §6.12).
type Firm interface {
	Sink
	Firm()
}

// ErrFirm is returned by Cancel and Release of a request that can only be completed.
var ErrFirm = errors.New("a collective operation can be neither cancelled nor given up: complete its request")

// firm reports whether the request can only be completed. For the owner.
func (r *Request) firm() bool {
	_, ok := r.sink.(Firm)
	return ok
}
