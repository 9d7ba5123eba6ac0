package tcp

import (
	"time"
)

// The trade-offs of the transport. Sizes are in bytes. The words in quotes are
// benchmarks of osu-go, which show the effect of a value.
const (
	// maxEager is the longest body of one message, and chunkSize the piece of a
	// longer one.
	maxEager  = 64 << 10
	chunkSize = 64 << 10

	// rndvMin is from which length a message is announced. A longer eager message
	// is copied twice more; an announcement takes a round trip ("latency" and
	// "bw" from 16 KB to 256 KB).
	rndvMin = 64<<10 + 1

	// pieceSize is how much of a Put or of the data of a Get one frame has over
	// the connection for bulk data, and shortPiece over that for messages, which
	// wait for as much.
	pieceSize  = 1 << 20
	shortPiece = 128 << 10

	// bufferSize is what a connection reads into, or holds what the kernel has
	// not accepted in: two messages and what else goes over it. A connection has
	// buffers while there is something in them; freeBuffers are kept for others.
	bufferSize  = 2*(maxHead+maxEager) + reserve
	freeBuffers = 16

	// gatherSize is how much is gathered before it is written at once.
	gatherSize = 16 << 10

	// hotMost is how many connections each Poll reads without asking the kernel
	// which of them have something. One of them that vain reads find empty is no
	// longer among them. sweepEvery is after how many Polls the others are asked
	// for: a read that finds nothing costs 0.3 us, at the cost of messages over
	// another transport ("latency" over shm of shm+tcp).
	hotMost    = 8
	vain       = 250
	sweepEvery = 32

	// bulkMin is from which length data goes over the connection for bulk.
	bulkMin = 128 << 10

	// pollMost is about how many bytes of bulk data one Poll writes and reads, all
	// connections together. While there is a message in every few Polls it is
	// pollShare of one connection, since messages wait for as much ("latency"
	// beside a transfer; "bw" from 1 MB).
	pollMost   = 1 << 20
	pollShare  = 64 << 10
	latelyPoll = 16

	// maxOps bounds the operations with one peer that are not complete.
	maxOps = 128

	// headMost is how much of the connection for bulk data is read at a time
	// where a frame begins.
	headMost = 512

	// firstTry is what each address of a peer has at first of the time to reach
	// it, so that one that swallows packets holds up little; it grows by a quarter
	// from round to round, for peers that are slow. leastRounds is how many there
	// are at least: a job that is stopped meanwhile loses one. retryPause is
	// between rounds, and unreachedPause is how long a rank that reaches no
	// address waits for its peer's own connection before it gives the peer up.
	firstTry       = time.Second
	leastRounds    = 2
	retryPause     = 50 * time.Millisecond
	unreachedPause = 500 * time.Millisecond

	// askTime is how long a rank whose connection has ended waits for its peer to
	// say why. News of a death comes as much later where the peer's host is gone,
	// too, or its process is stopped.
	askTime = 500 * time.Millisecond

	// lostTime is how long nothing comes over the connection with a peer of whose
	// death there is news, before the peer is down: what it has sent comes before its
	// end if the network carries both.
	lostTime = time.Second
)
