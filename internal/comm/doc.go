// Package comm is the core of communicators: their state below the API, and the
// execution of their collective calls.
//
// An Instance is one rank's engine: the progress loop, the point-to-point
// protocol above it, and the rank's communicators. A Comm is a set of ranks with
// a context of its own, so its messages match none of another's. Package mpi
// checks the arguments of a call, adds the user's context, and turns results
// into statuses and error classes.
//
// A Comm has all ranks of the job in their order, or those of its Map (Comm.Ranks).
// Contexts come in pairs, an even one for the program's messages and the next odd
// one for the library's own (ids.go). A Comm is usable until Free or the end of its
// Instance (lifetime.go).
//
// Collective calls send point-to-point messages in the odd context. They carry out
// plans of package coll, step by step in the calling goroutine (collective.go), or
// as a request of the loop's (icollective.go); the last plans are kept (plans.go).
// A call that fails at a rank fails at all (abort.go), and so do calls that do not match
// (compare.go, check.go). Communicators are made by
// such calls (creation.go), also on intercommunicators (intercomm.go), or by letters
// where the ranks have no communicator in common (letters.go, meeting.go, connect.go).
// Barrier is a dissemination: over flags in shared memory
// where the ranks reach one another's (flags.go), otherwise over messages
// (barrier.go).
//
// Package comm imports coll, fabric, group, partitioned, progress, pt2pt, wire and internal/membar. It knows
// neither transports nor launchers: New is given the domains and the addresses.
package comm
