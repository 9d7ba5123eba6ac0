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
// Package comm gives them the messages (wire.Agree, wire.Revoke) and the news, under
// ownership of the loop, so that a rank takes its part whatever the program does meanwhile.
// An agreement without a death takes two turns of log p rounds (agreement.go). A rank keeps
// the Value of a communicator's last agreement, and of the one before, for those that ask
// late: nobody ends an agreement before all living ranks have begun it, and so ended the
// one before. Ranks that an agreement has found dead take no part in the next one. A shrink
// is an agreement on who has failed, a meeting of the others, and an agreement that all
// have the communicator; if not, it begins again (shrink.go).
//
// A test explores the interleavings.
package ulfm
