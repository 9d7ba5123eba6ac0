// Package tcp is the transport between hosts that need no more than Ethernet: a
// connection for messages with each peer, and another for bulk data once there is
// some.
//
// The owner reads and writes the sockets by itself, without Go's poller and
// without waiting. A message that goes alone is one system call; those of a
// window are gathered. Put, Get and Atomic are frames that the peer's Poll
// serves, out of the regions that it has registered; the bytes of a Get or a Put
// are written from the user's memory and read into it. A rank sleeps in an epoll
// that has all of its sockets.
//
// Connections begin with an authenticated greeting (fabric/internal/greet), and go on
// over TLS 1.3 if the user wants that.
//
// It runs on Linux.
//
// # The ways of a message
//
//	up to 64 KB  a frame (frame.go). The first one after a Poll, with nothing before it, is
//	             a system call of its own, and so is one of 16 KB or more; others are
//	             gathered until the next Poll, or until there are 16 KB
//	more         announced; the receiver Gets it. From 128 KB on the bytes come over the
//	             connection for bulk data
//
// # Connections
//
// The first operation with a peer dials it, at one of its addresses after another, each
// with the whole greeting, since another host may have the same address (dial.go). Where
// both dial, the lower rank's connection counts. The first frame of a greeting has a fixed
// size, names the job and the rank that is called, and ends with a MAC of the job's key,
// which the listener checks before it keeps or allocates anything. Greetings run on
// goroutines and hand sockets to the owner. The first transfer of 128 KB dials the
// connection for bulk data; until that stands, and if it can't be made, the first one
// carries all. share.go has the one port of a host, secure.go and sealed.go have TLS.
//
// # Transfers
//
// The keys and bounds of a Put, Get or Atomic are checked for each. The bytes are cut into
// pieces of 1 MB, or of 128 KB over the connection for messages, which go between pieces;
// the operations under way take turns, piece by piece. The kernel copies from the sender's
// memory and into the receiver's, but for what one read brought along with a header.
// Deregister and End take memory back at once: the rest of a piece under way is copied,
// later pieces are replaced by a refusal. A Put or an Atomic is confirmed when it is in
// memory, and a Flush completes behind the operations before it.
//
// # Reading
//
// A Poll reads up to eight connections that had something lately, each once, a different
// one first each time, and asks the kernel about the others with every 32nd Poll and after
// Arm. Ends of operations and of peers are handed over before messages, so that a rank that
// polls for one event gets them beside a flood.
//
// What the kernel does not accept is staged, up to two of the largest messages; then Send
// returns ErrAgain. A part of that is reserved for requests and replies, whose number is
// bounded.
//
// # The end of a peer
//
// A process that ends closes its sockets: its peers hand over what had arrived, then its
// end (death.go). A rank that leaves in order says Bye first. A host that fails says
// nothing: heartbeat.go and keep.go have what finds it. A peer that is down stays down, and
// its later dials are refused.
package tcp
