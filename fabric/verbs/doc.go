// Package verbs is the transport over InfiniBand verbs: reliable connections
// of any RDMA device, InfiniBand or RoCE, hardware or the kernel's SoftRoCE.
//
// Ranks find one another through a small authenticated exchange over TCP, at
// first use; the socket stays open and its end tells of the peer's. Then each
// pair has a queue pair, and further ones, on other ports too, that large
// transfers are striped over. Messages arrive in the slots of one shared receive
// queue, whose room is given to the peers as credits, so that a sender never
// finds a receiver that is not ready; credits come back in the headers of
// messages or, where none goes, as small RDMA WRITEs into the sender's memory,
// which cost the sender no event. Messages that wait to be posted together share a
// slot. Get, Put and Atomic are the device's own READ, WRITE and atomics.
//
// libibverbs is opened at run time (dlopen), so a program carries no dependency
// on it. Without cgo, or without its headers when the program was built, the
// Provider says so in Available.
//
// Memory: a rank takes 1,056 receive slots of 8,256 bytes at most for up to 512
// peers, two slots a peer beyond; 256 send slots of the same size; 8 bytes for
// each rank of the job; and for each peer it talks with a queue pair of 128 sends
// (about 64 KB with SoftRoCE) and 4 KB of bookkeeping.
//
// Registrations are cached where peers can only read: after Deregister a peer
// that kept the key can read that memory until it is evicted. Memory that peers
// may write or act on with atomics is closed to them when Deregister returns.
// Memory of an Arena, which mpi.Alloc's is, stays registered, and open to peers
// that kept a key, until it is freed.
//
// Processes started with os/exec share or replace the parent's memory at once
// (clone with CLONE_VFORK), so registered pages need no care around it.
//
// It runs on Linux. docs/configuration.md has the variables WEFT_VERBS_*, which choose
// devices, ports and queue pairs.
//
// # The ways of a message
//
//	up to 240 bytes  a SEND with the bytes in the work request
//	up to 8 KB       a SEND from a registered slot, one copy on each side
//	below 16 KB      SENDs of 4 KB, so that the copies overlap
//	16 KB or more    announced; an RDMA READ by the receiver, or with WEFT_VERBS_RNDV=write
//	                 an RDMA WRITE by the sender. Fragments where memory can't be pinned
//
// An adapter may be faster at WRITE, but each receive that peers write to is registered
// anew, on every port.
//
// # Posting and polling
//
// The protocol reaches libibverbs through an interface, hca, with one call on the path of
// messages: PostPoll posts the gathered work requests and receive slots, one chain and one
// doorbell for each queue pair, and polls both completion queues. Go and C share the memory
// of the work requests, laid out as the library's structs, so a call passes five integers.
// A waiter that polls no other domain sets Linger, and the call polls several times,
// because a cgo crossing costs more than a poll. The tests have an hca of their own.
//
// The first two sends to a peer between two Polls are posted at once. From the third on
// they gather, at most sixteen, until the next Poll, and consecutive ones for a peer share
// a SEND: one work request, one credit, one completion. A rank whose doorbell is armed
// rings it itself, so that its thread polls; a rank without a thread gathers nothing.
//
// # Credit
//
// Each peer has credit for 2 to 128 slots. A peer that is sent nothing gets the count by a
// WRITE into its memory once three quarters of its credit are used, half of a small one.
// Slots return to the device in batches, as many as no credit covers. Urgent messages
// and messages in the last quarter of the credit are solicited events, for which
// WakeUrgent arms.
//
// # Completions
//
// A completion covers all work requests before it on its queue pair, so fifteen of sixteen
// plain sends are unsignaled. When a peer ends, its queue pair enters the error state, the
// flushed work requests complete once each, the queue pair is destroyed, and then PeerDown
// is called. A receive granted to a peer that the engine ends completes with PeerDown, not
// before, because memory of an arena keeps its key.
//
// An access error at the device ends the connection. The operation fails with ErrBadRemote
// if the peer is alive: the kernel takes a killed process's memory away before its queue
// pairs, so the operation waits until the peer has replied over the socket (refused.go).
//
// # Keys
//
// A key is the device's rkey, its permissions, and a tag under the owner's token. The
// sender checks these and the arithmetic before it posts; the device checks the bounds. A
// device reaches memory through a queue pair and a registration of one protection domain,
// of which each port has one. All queue pairs of a peer are destroyed before its PeerDown
// and its later dials are refused, so keys that the cache and the arena keep are useless
// to it. A living peer could read by a key it was told for an earlier send: the ranks of a
// job trust each other that far. Close destroys all queue pairs, then all registrations;
// either suffices (destroy.go).
//
// # Several ports
//
// Further queue pairs to a peer carry stripes of large transfers (rails.go, stripe.go);
// messages and atomics stay on the first. A region is registered on every port. A
// Remote has room for the first port's key: the others are in a table of the owner, of
// which the peer reads one entry while the first port's stripes are under way. Writes by
// two devices have no order, so a Put completes on a further port only behind a fence
// there, a READ of 8 bytes behind its WRITEs. A Flush waits for earlier striped transfers
// and fences the first queue pair and each other one that has written since its last
// fence (flush.go).
//
// A further queue pair that fails is flushed and destroyed, and the peer is told over the
// socket to do the same (lost_rail.go). Its stripes move to the first queue pair: READs at
// once, WRITEs once the peer has destroyed its side, because a delayed WRITE could land
// after the operation. If the first queue pair fails, the peer is down. It is down too when
// the socket ends, or when a port is down for a second.
//
// # Memory order
//
// Between a device and the processor:
//
//   - RDMA WRITE of 8 bytes by the peer's device (writeCredits) -> loadWord in someCredit:
//     how many messages the peer has taken, the low half twice. SoftRoCE writes byte by
//     byte, so a word whose halves differ is ignored. Nothing else depends on it; an
//     impossible value ends the peer.
//   - Bytes of a SEND -> a poll of its completion: the device writes the completion last.
//   - doorbell.fired in Wait and Sleep -> Arm: that the completion channel is to be armed
//     again. An Arm that misses it is followed by the return of that Wait or Sleep.
package verbs
