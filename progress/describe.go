package progress

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
)

// Info is what a sink says of a request, and a condition of the wait for it.
type Info struct {
	Class string // what users call such requests: one of a few values of a label; "" for other
	Name  string // says more, for the timeline; "" for Class
	Firm  bool   // it can be neither cancelled nor given up: see ErrFirm

	Context uint32 // of what the request is for, where there is one
	Message bool   // it is for a message with Tag, and with Peer and Size of the request
	Tag     int32

	Needs  bool // it waits for a call of the rank Caller in Context
	Caller fabric.Peer

	// What the operation is and how far it has come, for reports; only where words are
	// asked for.
	What, State string
	Condition   Watched // of a request of Watch or WaitFor
}

// ErrFirm is returned by Cancel and Release of a request that can only be completed, as
// MPI-4.0 §6.12 has it for collective operations.
var ErrFirm = errors.New("a collective operation can be neither cancelled nor given up: complete its request")

// Describe returns what the request's sink says of it. For the owner.
func (r *Request) Describe(words bool) (i Info) {
	if r.sink != nil {
		i = r.sink.Describe(r, words)
	}
	return i
}

// Sink returns the request's sink, for reports. For the owner.
func (r *Request) Sink() Sink { return r.sink }

// Detachments is the number of requests in flight with a callback at completion
// (OnEnd), which may do anything. For the owner.
func (l *Loop) Detachments() int { return l.detachments }

// Blocked calls f with each request that a goroutine waits for. who identifies
// that goroutine, and need is how many of its unfinished requests must still
// complete. For the owner.
func (l *Loop) Blocked(f func(r *Request, who any, need int)) {
	l.requests.each(func(r *Request) {
		if r.Waited() {
			f(r, r.waiter, r.waiter.need)
		}
	})
}
