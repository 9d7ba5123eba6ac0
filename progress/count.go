package progress

import "github.com/weft-mpi/weft/fabric"

// A sink counts requests for an object of its own that may not end before them,
// such as a communicator that the user has freed. Most objects end without that,
// so requests are counted only from then on: what is not counted pays nothing.

// Count has the loop report when the request is freed, in the way that as says,
// which is not 0. For the owner; it counts a request once.
func (r *Request) Count(as uint8) { r.counted, r.special = as, true }

// Counted reports whether the request is counted.
func (r *Request) Counted() bool { return r.special && r.counted != 0 }

// HandleCounts registers what is called, as the owner, while a counted request is
// being freed: its Imm is still there. It completes and frees no request itself,
// but Later may. HandleCounts is called before Go.
func (l *Loop) HandleCounts(freed func(r *Request, as uint8)) { l.counting = freed }

// InFlight reports whether the operation of a name is under way. For the owner.
func (l *Loop) InFlight(op fabric.Op) bool { return l.requests.lookup(uint64(op)) != nil }

// EachKept visits the requests in flight and the persistent ones at rest, of all
// sinks. Imm of a persistent request is as it was made. For the owner.
func (l *Loop) EachKept(f func(*Request)) {
	l.requests.visit(func(r *Request) bool {
		return r.sink != nil && (!r.done || r.Persistent())
	}, f)
}
