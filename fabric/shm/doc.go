// Package shm is the transport between the processes of one machine. It runs on Linux.
//
// Two ranks that communicate have a ring each way, both in one memfd. The rank
// that dials hands it to the other over a Unix socket at first use
// (handshake.go). A ring has 64-byte descriptor lines, whose sequence number is
// the valid flag, and a payload area beside them. In jobs of more than 16 ranks a
// ring begins small and grows when it is full (grow.go); ring.go has the layout.
// Nothing has a name in a file system (the rendezvous sockets are abstract), so
// nothing is left behind when a rank is killed.
//
// Get and Put move large bodies with one copy: through Cross Memory Attach
// (CMA, process_vm_readv), or by a plain copy from the arena, memory of mpi.Alloc
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
// # The ways of a message
//
//	up to 48 bytes        inside a line, with the header if there is one
//	up to 8 KB            a line, and the payload area
//	below the threshold   packets of 2 KB, so that the copies in and out overlap
//	from there on         announced (RTS); the receiver's Get is a CMA call
//	64 KB or more         the same; each end copies half, unless messages go both ways
//	4 KB or more of Alloc announced; a plain copy from the mapped arena. From 512 KB on
//	                      between two arenas both ends copy
//	no CMA                announced; fragments through the ring
//
// The threshold is 16, 32 or 64 KB and the same for all ranks of a host: its first
// rank measures both ways when it starts (weigh.go). WEFT_SHM_GET_MIN sets it.
//
// # Cache lines and system calls
//
// The receiver polls a ring line, so the line sits in the receiver's cache, and a send
// moves it to the sender for the store and back for the load. The sender begins the
// first move early, with PREFETCHW (claimNext): that is a fifth of the latency of a
// short message. The body of a reply of up to 512 bytes is pushed towards the shared
// cache (CLDEMOTE); one of 6 KB or more is copied by REP MOVSB, which writes whole
// lines without fetching them from the receiver's cache.
//
// A system call costs more than its own time. CMA calls name a thread of the peer that
// only sleeps (parked.go). They bypass the Go scheduler's entry and exit: its monitor
// would take the processor away, and look again every 20 µs. A call moves 512 KB at
// most. A short Get that a handler starts runs after the handler has returned
// (readBrief).
//
// One goroutine of a domain makes all greetings and learns of deaths (greeter.go), with
// an epoll of its own. fabric/internal/greet has a goroutine for each greeting; with many
// more ranks than cores that would keep each rank's monitor awake. The greeter accepts
// before it dials, so that few pairs dial both ways; where both dial, the lower rank's
// dial counts.
//
// # Memory order
//
// Each word that two ranks share has a store and a load that pair, and carries
// something (store -> load: what). Where a bar stands both sides store and then load, and
// one of the two sees the other:
//
//   - line.publish -> line.control: imm, header and body. A plain aligned store on amd64
//     (TSO), a release elsewhere.
//   - The line internalGrown, the last of the first ring (grow) -> line.control in poll:
//     that the next message is in the full ring, and that its pages are there.
//   - setConsumed -> consumed of the same ring: lines and payload to write over.
//   - The wake word in Arm, then a Poll | line.publish, then loadWake: store-load on both
//     sides, so that the Poll sees the message or the sender the word.
//   - The bell, then the wake word cleared (wakeUp) -> the bell in Wait, then the next
//     Arm: that a cleared word has been rung for. doorbell.go has the numbers of armings.
//   - A flag in memory of Reach, then Knock | Arm, then the flag: as for a message. Without
//     membarrier Knock makes an exchange before it loads the wake word.
//   - offEnds, then offLeft (leave) -> offLeft in each Poll, then offEnds (findLeft): that
//     the peer is down once its ring is empty; what it sent was published before.
//   - offEnds (leave), then the owner's reuse of its memory | a copy of that memory, then
//     LoadFence, then offEnds (hasLeft): that the copy was in time.
//   - offSettled by the dialler (answered), then the socket's close -> the close, then
//     offSettled (settle): that the dialler's domain has the connection.
//   - offInFlight + 1, then offEnds loaded (mayWrite) | offEnds, then offInFlight loaded
//     (peerWrites): a writer finds that its target has left, or the target waits for it.
//   - offInFlight - 1, then offEnds loaded (wrote) | the same: the bytes of the write. The
//     target sees 0, or the last writer rings.
//   - endpoint.way in stand and cut -> Write, before each block: the connection; later, why
//     there is none. Close locks endpoint.writers for good before it unmaps.
//   - arenaView.maps (mapPart) -> maps (at): the mappings of a peer's arena. size is of
//     the kernel's word, and stands alone.
//   - coopAnswer by the helper, after each block -> awaitHelp, settled: its blocks.
//   - coopClaims, a fetch-and-add on both sides: which end copies a block. After takeBack
//     no block can be claimed, and earlier claims are known.
//
// The sleeper issues an expedited membarrier between its wake word and its Poll, so
// senders need no fence. Where either side can't, senders publish with an exchange.
//
// An acquire load orders later accesses, not the plain loads before it. So a plain read
// that a later load validates needs a load fence in between (internal/membar): the
// reads of a peer's memory, move and readBrief, both through checked. No other read does:
//
//   - A line and its payload are read after the control word, and released by
//     setConsumed: earlier loads stay before a release.
//   - Both words of consumed stand alone: an old value is room not yet seen.
//   - A helper's blocks are read after coopAnswer says that they are there; what a peer
//     has Put, after a message of its.
//   - A slot of coop is used again after coopAnswer says that its helper is done, and
//     is announced by a line.
//   - The words that findLeft, part, Arm and Send load carry only themselves and what
//     was stored before them.
package shm
