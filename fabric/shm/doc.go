// Package shm is the transport between the processes of one machine.
//
// Two ranks that communicate have a ring each way, both in one memfd. The rank
// that dials hands it to the other over a Unix socket at first use
// (handshake.go). A ring has 64-byte descriptor lines, whose sequence number is
// the valid flag, and a payload area beside them. A message of at most 48 bytes
// fits into its line; a longer one has its body in the payload area. In jobs of
// more than a few ranks a ring begins small and grows when it is full (grow.go).
// Nothing has a name in a file system (the rendezvous sockets are abstract), so
// nothing is left behind when a rank is killed.
//
// Get and Put move large bodies with one copy: through Cross Memory Attach
// (process_vm_readv), or by a plain copy from the arena, memory of mpi.Alloc
// that peers map. Both ends copy where that pays (coop.go). Where the kernel
// does not permit CMA, the domain logs it once and Get fails with
// ErrUnsupported. A Get of memory that CMA can't reach (memfd_secret, a
// device's) completes with that error.
//
// A rank that sleeps publishes the events that should wake it in a word that its
// peers map; a sender that reads it after publishing rings the rank's eventfd.
// Ranks also share flags and counters (Share, Reach, Knock: reach.go). A peer's
// death is seen through its pidfd. A rank that closes, or that ends a peer, sets
// a word in the rings that they share (leave.go).
//
// The package imports fabric, internal/membar, internal/procs and
// golang.org/x/sys/unix. It runs on Linux.
package shm
