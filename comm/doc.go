// Package comm is the core of communicators: their state below the API, and the
// execution of their collective calls.
//
// An Instance is one rank's engine: the progress loop, the point-to-point
// protocol above it, and the rank's communicators. A Comm is a set of ranks with
// a context of its own, so its messages match none of another's. Package mpi
// checks the arguments of a call, adds the user's context, and turns results
// into statuses and error classes.
//
// Every communicator has all ranks of the job, in the job's order. Contexts come
// in pairs, an even one for the program's messages and the next odd one for the
// library's own (ids.go). A Comm is usable until Free or the end of its Instance
// (lifetime.go).
//
// Collective calls send point-to-point messages in the odd context. Dup agrees
// on a context along a binomial tree. Barrier is a dissemination: over flags in
// shared memory where the ranks reach one another's (flags.go), otherwise over
// messages (barrier.go).
//
// Package comm imports fabric, progress, pt2pt and internal/membar. It knows
// neither transports nor launchers: New is given the domains and the addresses.
package comm
