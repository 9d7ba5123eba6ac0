package verbs

import (
	"time"

	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

// The knobs of the transport: what each brings, and how to see it. osu-go's
// benchmarks show the first three groups (CONTRIBUTING.md, Measure); a change goes
// with the figures of both sides, taken in turns.

// Sizes of messages, in bytes.
const (
	// maxEager is the largest body of a SEND, and with it the size of a slot. More
	// spares chunks to messages between here and rndvMin, and pins more memory: see
	// queueMemory. osu-go latency -m 8192:16384.
	maxEager = 8192
	// chunk is what a longer message that is not announced is cut into, so that the
	// copies in and out overlap. osu-go bw -m 8192:16384.
	chunk = 4096
	// rndvMin is from where on a READ beats two copies: the round trip of the
	// announcement is what it has to win back. osu-go latency -m 8192:65536.
	rndvMin = 16 << 10
	// wantInline is how many bytes are asked for inside a work request: the device
	// fetches no slot then, and the slot is free at once. A device may grant less.
	// osu-go latency -m 64:256.
	wantInline = 256
)

// Work requests.
const (
	// queueDepth is how many may be outstanding on a queue pair. More keep a window
	// of larger messages going, and take the device's memory: about 64 KB for each
	// queue pair with SoftRoCE. sendReserve is kept of it for the transport's own.
	// osu-go mbw_mr -m 8192:8192.
	queueDepth  = 128
	sendReserve = 4
	// sendSlots is how many copied messages may be on their way, to all peers.
	// osu-go mbw_mr -m 4096:4096 with several pairs.
	sendSlots = 256
	// signalEvery is how many plain work requests one completion stands for: fewer
	// completions to poll, and slots that come back later. osu-go mbw_mr -m 8:8.
	signalEvery = 16
	// lone is how many sends to a peer between two Polls go at once, each by a
	// doorbell and a crossing into C of its own. Those behind them gather, for at
	// most batch, and those of one peer share a SEND: latency for lone, message rate
	// for batch. osu-go latency and mbw_mr -m 8:8.
	lone  = 2
	batch = 16
	// lingerLooks is how often a lingering Poll looks into empty queues before it
	// returns: so often that its beginning and end, the crossing by cgo, are a small
	// part of it. osu-go latency -m 8:8; BenchmarkBetweenProcesses.
	lingerLooks = 16
)

// Receive slots: all peers send into one shared receive queue.
const (
	// slotsWanted is what the windows of all peers make together. A window is how
	// many messages a peer may have under way, windowMin to windowMax: a wider one
	// lets a burst go on, and pins maxEager for each message. osu-go mbw_mr.
	slotsWanted          = 1024
	windowMin, windowMax = 2, 128
)

// One-sided transfers.
const (
	// stripeMin is what each queue pair gets at least of a transfer, in bytes: below,
	// the fixed cost of a work request is more than another path saves. With several
	// ports or WEFT_VERBS_RAILS, osu-go bw -m 65536:1048576.
	stripeMin = 64 << 10
	// stripeAlign keeps the ends of stripes off one page and packet.
	stripeAlign = 4096
	// repeatMax is how long a transfer between the same memory as the last may be to
	// go past the look-ups: less than what a device takes at once, or than two
	// stripes. BenchmarkBetweenProcesses.
	repeatMax = 4096
	_         = uint(2*stripeMin - repeatMax - 1)
	// pieceLimit cuts transfers also where the device would take more, into maxPieces
	// work requests at most.
	pieceLimit = 1 << 30
	maxPieces  = 64
	// maxPorts is over how many ports a rank talks at most, maxRails how many queue
	// pairs a peer has, the first included.
	maxPorts = pin.MaxPorts
	maxRails = 16
)

// Time limits. Each ends what hangs; none is on the path of messages.
const (
	// ackTimeout is the local ACK timeout as an exponent of 4.096 µs, 134 ms (IBTA
	// volume 1, 9.7.6.1.3); with ackRetries a silent path is given up after about a
	// second. Shorter ends peers on a congested network.
	ackTimeout = 15
	ackRetries = 7
	// portGrace is how long a port may be down before its peers are given up: the
	// device repeats what is lost meanwhile.
	portGrace = time.Second
	// flushTime is how long a device has to flush a queue pair that has failed.
	flushTime = 500 * time.Millisecond
	// answerTime is how long a peer has to answer over the socket. Its goroutines do
	// so by themselves, however busy the application is.
	answerTime = 5 * time.Second
	// closeTime bounds how long Close waits for what has been sent to arrive.
	closeTime = time.Second
)
