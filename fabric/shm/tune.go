package shm

import "time"

// The trade-offs of the transport. Sizes are in bytes. "bw", "latency" and the
// other words in quotes are benchmarks of osu-go, which show the effect of a
// value.

// Greetings. They show in a program with many more ranks than cores, all of
// which send to all at their first communication.
const (
	// dialsAtOnce bounds a rank's own dials under way. With more of them all
	// ranks are connected after fewer switches between processes. Each holds a
	// socket, a mapping, and four descriptors that count against the limit on
	// those in flight.
	dialsAtOnce = 64

	// dialsInTurn is how many of them begin before the rank accepts peers that
	// have dialled it. With fewer, fewer pairs dial each other both ways; with
	// more, it accepts less often.
	dialsInTurn = 8

	// backlog is how many connections the kernel queues for a rank that accepts
	// none, at most net.core.somaxconn. A dialler that finds the queue full
	// tries again after pauseMin, later less often.
	backlog = 4096

	// How long to wait before the next try, for a place in the queue of a peer
	// or for descriptors in flight.
	pauseMin = time.Millisecond
	pauseMax = 100 * time.Millisecond

	// acceptPause is how long a rank accepts no connections after a failed
	// accept, for want of descriptors say.
	acceptPause = 10 * time.Millisecond
)

// handshakeTime is after how long a connection under way without a reply is
// logged. It is no limit: a living process of this machine will reply, however
// long it is stopped or has to wait for a processor. It is a variable so that
// tests can make it short, and is read by Open.
var handshakeTime = 20 * time.Second

// sayAfter is how long Close waits for a peer before it logs that.
var sayAfter = time.Second

// Rings.
const (
	// firstLines and firstPayload are the ring that a segment begins with: the
	// memory of a connection that carries little, 12 KB each way with the head
	// of the ring. It accepts every message, since a ring that can't grow must
	// serve too. See Shmem in /proc/meminfo with many ranks that all
	// communicate.
	firstLines   = 32
	firstPayload = maxEager

	// ringLines is how many messages may be unread in a full ring. With more a
	// sender may run further ahead ("mbw_mr", "bw" of short messages), with
	// fewer the lines stay in the cache.
	ringLines = 512

	// The payload area of a full ring, a power of two. mostPayload is as much as
	// the private cache of many cores. With this area, lines that are reused
	// have left the consumer's private cache for the shared one, and are written
	// sooner than those of a small ring, whose every line must be fetched from
	// the consumer ("bw" from 1 KB to 16 KB). In large jobs the rings of all
	// peers have inPayload bytes together, or leastPayload each.
	mostPayload  = 512 << 10
	leastPayload = 64 << 10
	inPayload    = 16 << 20

	// untilRetry is how many messages pass through a ring that could not grow
	// before it tries again, which costs a system call.
	untilRetry = 4096
)

// forHaste is the memory, of all ranks of a job together, for rings that are
// full before they must be. Allocating pages delays the beginning of a stream,
// and in a full ring the two ranks exchange their counts seldom ("bw" and
// "latency" between ranks of a large job). If it suffices for the rings of all,
// they are full from the beginning. Otherwise each rank has its share, for the
// peers it communicates with often. It is a variable so that tests can change
// it, and is read by Open.
var forHaste = 144 << 20

// Messages.
const (
	// maxEager is the longest body of one packet, and pieceSize the piece of a
	// longer one. With short pieces the two copies overlap more, with long ones
	// there are fewer packets ("latency" and "bw" from 4 KB to 16 KB).
	maxEager  = 8 << 10
	pieceSize = 2 << 10

	// maxDemote is the longest body whose lines are pushed towards the consumer:
	// beyond it that costs more than it gains ("latency" from 64 to 1024 bytes).
	maxDemote = 512

	// claimPacked is how much payload is claimed for a body that will be packed. A Packed
	// claims the rest as it goes ("latency" and "bw" with -D, 64 KB and more).
	claimPacked = 1 << 10

	// stringMin is from how many bytes on a body is copied into the ring by a string
	// instruction. A store to a line that the consumer has read waits for the line
	// to come back; a string instruction does not, but takes a while to begin
	// ("latency" from 4 KB to 8 KB, "bw" of 8 KB, and messages in fragments).
	stringMin = 6 << 10

	// ahead is how many lines before its use a line is claimed or prefetched, on
	// either side: as many as pass while it comes from the other core ("mbw_mr",
	// "bw" of 8 bytes).
	ahead = 8

	// burst is how many messages of one peer are delivered before the next peer
	// is polled: more of them use one ring's lines in a row, fewer delay the
	// other peers less.
	burst = 64
)

// Transfers by one copy.
const (
	// DefaultGetMin is the size in bytes from which a message is read from its
	// sender's memory, if it is not measured ("latency", "bw" with
	// WEFT_SHM_GET_MIN).
	DefaultGetMin = 16 << 10

	// leastGetMin and mostGetMin bound what a user may set: below, a message is in
	// one packet anyway; above, the pieces of a message would fill the ring.
	leastGetMin = maxInline + 1
	mostGetMin  = 1 << 20

	// wholeGet is the largest transfer done at once in the call: it saves a Poll
	// and delays the caller for that long.
	wholeGet = 64 << 10

	// The owner of the memory helps with a Get of coopMin or more; of memory
	// that both sides have mapped, of coopArena or more. Below, the request
	// costs more than it brings ("latency" and "bw", with and without mpi.Alloc
	// memory).
	coopMin   = 64 << 10
	coopArena = 512 << 10

	// A large transfer is cut into blocks: the unit of one Poll, and of the
	// claims of a cooperative Get. Small blocks divide short transfers evenly,
	// large ones save system calls ("latency" from 64 KB to 1 MB).
	minBlock  = 32 << 10
	maxBlock  = 128 << 10
	soloBlock = 512 << 10 // without help, and what a system call moves at most

	// lead is how many transfers are shared with their helpers at a time. Each
	// side first moves its half of each of them, so that a buffer in repeated
	// use stays in the cache of the core that moves it, and only then blocks
	// that the other side has not begun ("bw" from 64 KB on).
	lead = 4

	// coopSlotCount is how many Gets of a peer may have asked for help, answered or
	// not. Each takes a line of the ring's head.
	coopSlotCount = 16

	// Two ranks that were about to help each other do without help for coopPause
	// bytes, then for twice as many after each failed try, up to mostCoopPause
	// ("bibw" from 64 KB on; a later stream one way gets help late).
	coopPause     = 32 << 20
	mostCoopPause = 512 << 20
)

// The measurement at the start (weigh.go).
const (
	// weighRounds is how often each size goes each way; the least time counts.
	// More rounds find it more surely and take longer.
	weighRounds = 24

	// weighTime bounds the measurement where the processors are busy.
	weighTime = 50 * time.Millisecond

	// beyond is the result where the ring wins at every measured size.
	beyond = 64 << 10
)
