// Package comm is the core of communicators: what a communicator is below the
// API, and the executors of its collective calls.
//
// An Instance is one rank's engine: the progress loop, the point-to-point
// protocol above it, and the communicators that the rank has. A Comm is a set of
// ranks with a context of its own, so that its messages match none of another's.
// Package mpi checks the arguments of a call, adds the user's context, and turns
// results into statuses and error classes.
//
// Ranks are those of the job: the ranks of every communicator so far. Contexts
// come in pairs, an even one for the program's messages and the odd one behind it
// for the library's own (ids.go). A Comm is usable until Free or the end of its
// Instance (lifetime.go). Collective calls are made of point-to-point messages in
// the odd context: Barrier is the dissemination algorithm, Dup agrees on a context
// along a binomial tree.
//
// Package comm imports fabric, progress and pt2pt. It knows neither transports
// nor launchers: New is given the domains and the addresses.
package comm
