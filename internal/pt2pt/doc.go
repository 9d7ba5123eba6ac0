// Package pt2pt is point-to-point communication (MPI-4.0 chapter 3): the
// protocols that carry a message, by its length and the fabric's capabilities,
// and the matching of messages with receives.
//
//	eager.go      one packet, copied in and out
//	chunks.go     several packets, so that both copies overlap
//	rndv_get.go   RTS; the receiver reads the sender's memory; FIN
//	rndv_put.go   RTS, Grant; the sender writes the receiver's memory; Written
//	rndv_frag.go  RTS, CTS, fragments: where memory can't be read
//	self.go       messages of a rank to itself
//	awaited.go    a blocking receive before it has a request
//
// A communicator's contexts begin and end in contexts.go; freed.go drops the
// messages that nothing can receive any more.
//
// # The choice of a way
//
// The thresholds are the Caps of the fabric that the peer is reached over, and no
// protocol names a transport. A message of RndvMin or more is announced (RTS), one of
// RndvMinMapped or more if peers have mapped its memory, and so is a longer synchronous
// one. A shorter one goes in one packet up to MaxEager, else in chunks. The receiver of an
// announced message Gets it; with Caps.PutFirst it registers its buffer and lets the
// sender Put (Grant, then Written): that needs neither a note nor an order between Puts
// and messages. Each rank decides for its own receives. Where neither works the message
// goes in fragments, as does one in a layout, memory that is not contiguous (layout.go). A
// message can't be cancelled after its Grant.
//
// A short synchronous send is EagerSync, acknowledged by the FIN that also completes a
// rendezvous. Two outcomes travel as errors, so that the path of a message does not check
// for them: progress.ErrCancelled, and progress.General, whose status the user sets.
//
// # Flow control
//
// A fabric bounds what one rank can have under way to another. Messages that a rank has
// accepted without a receive are bounded too (flow.go): it tells a peer in a Flow packet
// what it accepts from then on.
//
//	Announce  from 4 MB or 131,072 messages of that peer on, or 64 MB of all if it has more
//	          than 64 KB of them: the peer announces each message, so that a blocking Send
//	          waits for its receive
//	Hold      from 1,310,720 messages of all peers on, announced ones included: the peer
//	          sends none. Its sends wait in a list of their own, since control packets go on
//	Open      from a quarter of the first limits down, and half of that of Hold: as before
//
// A receive fails with a LimitError if its only sources are on Hold and nothing has been
// received for ten seconds. Limits has other bounds.
//
// # Who is told of a death
//
// PeerDown fails what needs the peer, and, unless it has left in order, all operations in
// the contexts of collective calls of its communicators, since all ranks take part in
// those. Where the launcher brings no news (Informed), a rank tells those that it is
// connected to (wire.Dead). A receive from any source fails with the last of the other
// ranks of its communicator; wild.go ends waits for one before that.
//
// # Tests
//
// TestSim plays an engine for each rank over mem.Sim: one goroutine makes every move, an
// arrival, a transfer, news of a death. A seed draws the moves, the faults, the operations
// and the thresholds, and is a run byte for byte. internal/testkit/oracle, which is told of
// every event, runs the plainest model of matching beside the engine. TestScripts plays
// single interleavings and keeps their traces in testdata. RealTransports plays plans over
// real transports; there a seed is a plan and no run. FuzzSession plays the hostile peer.
package pt2pt
