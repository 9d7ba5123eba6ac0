// Package mem is the transport between ranks that are goroutines of one
// process. It needs nothing of the machine, so tests and examples of every
// layer above run on it; under a seed it also plays the difficult network,
// the same way each time.
//
// A Network joins a fixed number of ranks. Each ordered pair of ranks has one
// single-producer single-consumer queue, made on first Connect. It has few slots
// until messages gather in it; the slots keep their buffers, so that Send and
// Poll do not allocate once both have grown to what is in use. A Poll looks only
// at peers that have marked themselves, so what an idle rank costs does not
// depend on the number of ranks. One-sided operations copy in the caller and
// complete in the caller's next Poll. A Remote is checked against the peer's
// registered regions every time; its Addr is not a machine address but a
// position in an address space of the domain's own, so that headers which
// carry it are the same in every run.
//
// What the contract leaves open, mem does as follows.
//
//   - The doorbell rings at either level when a peer that answered ErrAgain
//     has room again.
//   - Poll returns 0 only when nothing was there.
//   - A rank that closes its domain is reported to the others with PeerDown,
//     as a killed one is, and so is one that ends a peer to that peer. What it
//     sent before is delivered first.
//   - Between a peer's end and its PeerDown, its endpoint answers ErrAgain.
//   - A registered region is held alive until Deregister or Close.
//   - Completions of one domain come in the order of acceptance.
//
// A Sim is another such network, for simulations: one goroutine drives all its
// ranks, and nothing moves but by that goroutine's choice.
//
// mem imports fabric and nothing else of Weft.
package mem
