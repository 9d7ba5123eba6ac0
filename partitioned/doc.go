// Package partitioned is the protocol of partitioned communication (MPI-4.0
// chapter 4): one rank's sends, whose parts many goroutines make ready, and the
// receives that they arrive in.
//
// # Channels
//
// PsendInit and PrecvInit make a persistent request each, and the two that match
// are the sides of a channel. They match in the order of the calls, by context,
// source and tag, and never with point-to-point messages. The sender's PInit
// describes its side; the receiver compares the sizes and replies with PAccept.
//
// A round begins with a Start on each side. The receiver says PGo; from then on
// the sender may send.
//
// # Blocks
//
// What is transferred is blocks: partitions of the sender that lie side by side,
// as many as make a transfer worth its price, so tiny partitions share one and
// large ones are blocks of their own. A block leaves when its last partition is
// ready and the receiver has said PGo, whichever comes last. One that the receiver
// will read is announced before the PGo, so that nothing has to come back first.
// See ready.go.
//
// A block reaches the receiver's memory in one of three ways. The receiver reads
// it from the sender's memory (read.go): where a transport shares the work of a
// Get between the two ranks, that is the fastest if both wait. If the receiver
// computes, or reads already, the goroutine that made the block ready writes it,
// without ownership of the loop, where its process can (write.go). Short blocks,
// and those that can't be read, are sent in packets (packets.go).
//
// Memory with gaps is packed by the goroutine that makes it ready, and unpacked from
// packets by the receiver (layout.go).
//
// A count for each block says how many of its partitions are missing. The goroutine that
// brings it to zero adds the block to a set of those that are due, and then loads which
// round the receiver has begun; the owner stores that round and then takes what is due. So
// one of them sends the block, once. The receiver asks which blocks have the bytes of one of
// its partitions: the counts on the two sides need not be related.
//
// # Ends
//
// A failed round completes when nobody uses its memory any more: no Get is under way, and
// no goroutine of the sender writes. A receiver that gives up sends PStop; the sender
// forbids further writes, waits until its count of writers is zero, and replies PStill. A
// fault is for good: later rounds fail with it. The packet that tells the peer of the end of
// a side says why, and so does the peer's error: a GoneError, or after a Get that has failed
// an UnreadError.
//
// TestModel plays rounds over the simulated network; its model is a bitmap for each. In the
// middle of each direct write other ranks and goroutines go on.
package partitioned
