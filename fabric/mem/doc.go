// Package mem is the transport between ranks that are goroutines of one process.
// It needs nothing of the machine, so tests and examples of every layer above
// run on it. With a seed it also plays a difficult network, the same way each
// time.
//
// A Network connects a fixed number of ranks. Each ordered pair of ranks has one
// single-producer single-consumer queue, made on first Connect. It has few slots
// until messages gather in it. The slots keep their buffers, so Send and Poll do
// not allocate once both have grown to the need. A Poll checks only peers that
// have marked themselves, so the cost of an idle rank does not depend on the
// number of ranks. One-sided operations copy in the caller and complete in the
// caller's next Poll. A Remote is checked against the peer's registered regions
// every time. Its Addr is not a machine address but a position in an address
// space of the domain's own, so headers that carry it are the same in every run.
//
// Where the contract leaves a choice, mem does this:
//
//   - The doorbell rings at either level when a peer whose endpoint returned
//     ErrAgain has room again.
//   - Poll returns 0 only when nothing was there.
//   - A rank that closes its domain is reported to the others with PeerDown,
//     as a killed one is, and so is one that ends a peer to that peer. What it
//     sent before is delivered first.
//   - Between a peer's end and its PeerDown, its endpoint returns ErrAgain.
//   - A registered region is held alive until Deregister or Close.
//   - Completions of one domain come in the order of acceptance.
//
// A message above 8 KB goes in packets of 2 KB, so that the copies in and out overlap; one
// of 16 KB or more is announced, and the receiver Gets it.
//
// # Memory order
//
// Both sides store and then load, and one of the two sees the other:
//
//   - queue.tail, then the peer's bit in ready.shared, then the summary | the summary
//     cleared, then the bit, then the queue: which peers Poll checks. One side sees the
//     other.
//   - bell.level in Arm, then a Poll | a message published and marked, then level: the Poll
//     finds the message, or the sender rings.
//   - bell.level in Arm, then a load of memory of Reach | a store there, then an exchange
//     and level in Knock: the same, for a store without a message.
//
// A Sim is another such network, for simulations: one goroutine drives all its
// ranks, and nothing moves except by its choice.
package mem
