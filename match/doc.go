// Package match pairs messages with receives for one rank.
//
// It holds the two queues that MPI's point-to-point semantics are made of: the
// receives that have been posted and await a message, and the messages that
// have arrived before any receive asked for them (the unexpected messages). It
// stores 32-bit names that the caller chose, never requests or payloads, so it
// knows nothing of transports, buffers or protocols. Package pt2pt is its user;
// one [Table] sits above all transports of a rank, which is what lets a receive
// from any source match whichever transport delivers first.
//
// # Rules
//
// MPI-4.0 §3.2.4: a message matches a receive when context, source and tag
// agree; [AnySource] and [AnyTag] in the receive agree with every source and
// tag. The context never is a wildcard: it is what keeps communicators apart.
//
// MPI-4.0 §3.5: messages do not overtake. Of the posted receives that match an
// arriving message, the one posted first takes it; of the unexpected messages
// that match a receive, the one that arrived first is taken. The table orders
// by the order of calls, so a transport has to present the messages of one
// sender in the order in which they were sent.
//
// # Shape
//
// A posted receive is of one of four classes: exact, source with any tag, any
// source with tag, any source with any tag. Each class is a hash table over the
// keys in use, and each key leads to a first-in first-out list of its entries.
// The key that receives are posted with in a row has its list beside the table.
// An arrival does one look-up in each class that is not empty and takes the
// entry posted first.
//
// Unexpected messages are in one such table under their exact key. A wildcard
// receive would have to search it, so the messages are also linked by source, by
// tag, and by context alone, each kind from the first wildcard receive of that
// kind on.
//
// The cost of a call therefore does not depend on the depth of a queue, nor on
// whether its entries share one key. Two things cost more, each paid for by
// the calls that led to it: storage doubles when full, and the first wildcard of a
// kind sorts what is queued.
//
// Entries are slab slots addressed by index and contain no pointers, so the
// garbage collector has nothing to trace however much is queued. Storage is
// kept at its high-water mark: in steady state no call allocates.
//
// Package match imports only the standard library.
package match
