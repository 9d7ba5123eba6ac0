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
// as a request of the loop's (icollective.go), which a persistent call keeps
// (persistent.go); the last plans are kept (plans.go).
// A call that fails at a rank fails at all (abort.go), and so do calls that do not match
// (compare.go, check.go). Communicators are made by
// such calls (creation.go), also on intercommunicators (intercomm.go), or by letters
// where the ranks have no communicator in common (letters.go, meeting.go, connect.go).
// Barrier is a dissemination: over flags in shared memory
// where the ranks reach one another's (flags.go), otherwise over messages
// (barrier.go). What a rank waits for is collected in state.go, and ranks ask one another
// for it in questions.go.
//
// An Instance also carries out package ulfm's protocols (failures.go), makes windows
// (window.go), and tells what its rank does. The package knows neither
// transports nor launchers: New is given the domains and the addresses.
//
// # A collective call
//
// The tag of its messages is the call and its number in the communicator, which is drawn
// as the call is made; blocking, nonblocking and persistent calls, and the different
// creations, have tags of their own, so that they do not match by accident. Long steps, and those with a
// function of the program's, are done beside the loop (progress.Loop.Aside). Memory of a
// call whose elements are not one range is a Gapped (gaps.go), whose packed bytes the
// steps number. History keeps the signatures of the last 64 calls, by which ranks compare.
//
// # Barriers by flags
//
// The first barrier of a communicator uses messages, and so do the second and the last one
// of a job. Behind the second the ranks exchange the places of their flags and agree
// whether each reaches those it needs; if one does not, barriers go on by messages. A
// persistent barrier has flags of its own, which its Init prepares (persistent_barrier.go).
//
// # Memory order
//
//   - An entry of history in note, first alike and then call -> call, alike and call again,
//     in of: the signature of a call. The number in the entry says whether both words are of
//     one call.
//   - Comm.over, by what ends the communicator -> every call: that it may not begin.
//   - A flag, a release store, then Knock -> the flag in look: that the rank has come as far
//     (progress.Watched).
//   - Instance.looking, by the once-a-second look -> Lateness, by the goroutine that replies
//     to a command: since when the look waits for the owner.
//
// # Tests
//
// TestModel plays random programs over the simulated network: creations of every kind, some
// of which have to fail, all collective calls, messages, and Free at each rank's own moment,
// on overlapping communicators, with ranks that die or leave. Its model is MPI's plain
// rules. sim_*_test.go drives the flags over memory of mem.Sim, in which a store reaches
// each other rank by a move of its own.
package comm
