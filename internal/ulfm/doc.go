// Package ulfm is how the ranks of a communicator go on without those that have died:
// an agreement, the spread of a revocation, and the rounds of a shrink. MPI calls it
// user-level failure mitigation.
//
// All of it is pure: machines that are told what happens and say what to send. They need
// of the world that
//
//   - messages between two living ranks arrive once and in their order; of a rank that has
//     died arrives a beginning of what it has sent to each other rank,
//   - each survivor learns of each death at some time, in any order, and of none that has
//     not happened. A rank that has left counts as dead.
//
// A test explores the interleavings.
package ulfm
