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
// The package imports fabric, fabric/internal/greet, its own internal/ibv (the
// library) and internal/pin (registered memory), the standard library and
// golang.org/x/sys/unix. It runs on Linux. The environment's WEFT_VERBS_DEV ("mlx5_0" or "mlx5_0:1",
// or several with commas between) chooses devices and ports, WEFT_VERBS_GID the
// index of the GID, WEFT_VERBS_RAILS the number of queue pairs to a peer on each
// port, WEFT_VERBS_RNDV (read or write) how large messages move, WEFT_VERBS_SL
// and WEFT_VERBS_TC the service level and traffic class of packets, and
// WEFT_VERBS_CACHE=0 turns the registration cache off.
package verbs
