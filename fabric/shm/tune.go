package shm

import "time"

// What trades one thing for another. Sizes are in bytes. "bw", "latency" and the
// other words in quotes are benchmarks of osu-go, which show what a value brings.

// Greetings. To see them: a program whose ranks, many more than there are cores,
// all send to all at their first communication.
const (
	// dialsAtOnce is how many dials of a rank's own may be under way. With more of
	// them fewer switches between processes pass before all are connected; each
	// holds a socket and a mapping, and four descriptors that count against the
	// limit on those under way.
	dialsAtOnce = 64

	// dialsInTurn is how many of them begin before the rank looks for peers that
	// have dialled it. With few of them fewer pairs dial each other both ways, with
	// many it looks less often.
	dialsInTurn = 8

	// backlog is how many connections the kernel keeps for a rank that takes none;
	// it takes net.core.somaxconn if that is less. Who finds no place tries again
	// after pauseMin, later less often.
	backlog = 4096

	// How long to wait before the kernel is asked again, for a place in the queue
	// of a peer or for descriptors under way.
	pauseMin = time.Millisecond
	pauseMax = 100 * time.Millisecond

	// acceptPause is for how long a rank takes no connections when it has failed
	// to take one, for want of descriptors, say.
	acceptPause = 10 * time.Millisecond
)

// handshakeTime is after how long without an answer a connection that is being
// made is spoken of. It is no limit: a process of this machine that lives will
// answer, however long it is stopped or has to do without a processor. It is a
// variable so that tests can make it short, and is read by Open.
var handshakeTime = 20 * time.Second

// sayAfter is how long Close waits for a peer before it says so.
var sayAfter = time.Second

// Rings.
const (
	// firstLines and firstPayload are the ring that a segment begins with: they are
	// the memory of a connection that carries little, 12 KB each way with the head
	// of the ring. It takes every message, since one that can't grow serves all the
	// same. See Shmem in /proc/meminfo with many ranks that all talk to all.
	firstLines   = 32
	firstPayload = maxEager

	// ringLines is how many messages may be unread in a full ring: with more a
	// sender may run further ahead ("mbw_mr", "bw" of short messages), with fewer the
	// lines stay in the cache.
	ringLines = 512

	// The payload area of a full ring, a power of two: mostPayload, which is as much
	// as many a core's own cache holds. Behind it the lines that come round again
	// have left the consumer's cache for the one that both share, and are written
	// sooner than those of a small ring, whose every line is fetched from the
	// consumer ("bw" from 1 KB to 16 KB). In large jobs the rings of all peers have
	// inPayload bytes, or leastPayload each.
	mostPayload  = 512 << 10
	leastPayload = 64 << 10
	inPayload    = 16 << 20

	// untilRetry is how many messages go through a ring that could not grow before
	// it is tried again, which is a system call in vain.
	untilRetry = 4096
)

// forHaste is the memory, of all ranks of a job together, of rings that are full
// before they must be. To take the pages costs time when a stream begins, and in a
// full ring the two ranks tell each other seldom what they have consumed ("bw" and
// "latency" between ranks of a large job). If it suffices for the rings of all,
// they are full from the beginning; else each rank has its share, for peers it
// talks to often, if only in turns. It is a variable so that tests can do without,
// and is read by Open.
var forHaste = 144 << 20

// Messages.
const (
	// maxEager is the longest body of one packet, and pieceSize the piece of one
	// that is longer: the two copies of short pieces overlap more, those of long
	// ones begin less often ("latency" and "bw" from 4 KB to 16 KB).
	maxEager  = 8 << 10
	pieceSize = 2 << 10

	// maxDemote is the longest body whose lines are pushed towards the consumer:
	// beyond it that costs more than it gains ("latency" from 64 to 1024 bytes).
	maxDemote = 512

	// ahead is how many lines before its use a line is made ours, at either end: as
	// many as pass while it comes from the other core ("mbw_mr", "bw" of 8 bytes).
	ahead = 8

	// burst is how many messages of one peer are handed over before the next
	// peer's turn: long ones keep to one ring's lines, short ones let nobody wait.
	burst = 64
)

// Transfers by one copy.
const (
	// DefaultGetMin is from how many bytes on a message is read from its sender's
	// memory where that is not measured ("latency", "bw" with WEFT_SHM_GET_MIN).
	DefaultGetMin = 16 << 10

	// leastGetMin and mostGetMin bound what a user may set: below, a message is in
	// one packet anyway; above, the pieces of a message would fill the ring.
	leastGetMin = maxInline + 1
	mostGetMin  = 1 << 20

	// wholeGet is the largest transfer done at once in the call: it spares a Poll,
	// and keeps the caller for so long.
	wholeGet = 64 << 10

	// The owner of the memory helps with a Get of coopMin; of memory that both
	// ends have mapped, with one of coopArena. Below, to ask for help costs more
	// than it brings ("latency" and "bw", with and without mpi.Alloc memory).
	coopMin   = 64 << 10
	coopArena = 512 << 10

	// A large transfer is cut into blocks: what one Poll moves, and what the two
	// ends of a cooperative Get claim. Small ones share short transfers out evenly,
	// large ones spare system calls ("latency" from 64 KB to 1 MB).
	minBlock  = 32 << 10
	maxBlock  = 128 << 10
	soloBlock = 512 << 10 // without help, and what a system call moves at most

	// lead is how many transfers are shared with their helpers at a time. Each side
	// moves its half of each of them, so that a buffer that is used again stays in
	// the cache of the core that moves it, and only then what the other has not
	// begun ("bw" from 64 KB on).
	lead = 4

	// coopSlotCount is how many Gets of a peer may have asked for help, answered or
	// not. Each takes a line of the ring's head.
	coopSlotCount = 16

	// Two ranks that were about to help each other do without for coopPause bytes,
	// then for twice as many each time that they try in vain, up to mostCoopPause
	// ("bibw" from 64 KB on; a stream one way that follows finds help late).
	coopPause     = 32 << 20
	mostCoopPause = 512 << 20
)

// The measurement at the start (weigh.go).
const (
	// weighRounds is how often each size goes each way; the least time counts. More
	// of them find it more surely, and take longer.
	weighRounds = 24

	// weighTime bounds the measurement where the processors are busy.
	weighTime = 50 * time.Millisecond

	// beyond is the answer where the ring wins at every size weighed.
	beyond = 64 << 10
)
