// Package faulty makes any transport a difficult one. It wraps a Provider whose
// domains then do, as a seed says, what the contract permits and a kind
// transport seldom does:
//
//   - operations answer ErrAgain without need;
//   - Poll hands over fewer events than it could, and holds completions back
//     until a later Poll;
//   - the ends of Flushes come as late as other completions;
//   - Wait returns although nothing has come;
//   - Get is refused with ErrUnsupported, where the caller has asked for that.
//
// What a transport has to keep is kept: the order of messages, the end of each
// operation once, a peer's end after those of its operations, Poll's 0 only
// when there is nothing to do, and a doorbell for what was held back.
//
// It is for tests of what stands above a transport, and imports fabric.
package faulty
