// Package shm is the transport between the processes of one machine.
//
// Two ranks that talk have a ring each way, both in one memfd, which the rank that
// dials hands to the other over a Unix socket at first use (handshake.go). A ring
// has 64-byte descriptor lines, whose sequence number is the valid flag, and a
// payload area beside them. A message of at most 48 bytes lives in its line; a
// longer one has its body in the payload area. In jobs of more than a few ranks a
// ring begins small and grows when it is full (grow.go). Nothing of it has a name
// in a file system (the rendezvous sockets are abstract), so nothing is left behind
// when a rank is killed.
//
// Get and Put move large bodies with one copy: through Cross Memory Attach
// (process_vm_readv), or by a plain copy from the arena, memory of mpi.Alloc
// that peers map. Both ends copy where that pays; see coop.go. Where the kernel refuses
// CMA the domain says so once in the log and answers Get with ErrUnsupported; for
// memory that it can't reach (memfd_secret, a device's) the Get ends with that.
//
// A rank that sleeps publishes what it wants to be woken for in a word that
// its peers map; a sender that reads it after publishing rings the rank's
// eventfd. The death of a peer is seen through its pidfd; one that closes, or that
// gives a rank up, says so in the rings that they share (leave.go).
//
// The package imports fabric, the standard library and golang.org/x/sys/unix.
// It runs on Linux.
package shm
