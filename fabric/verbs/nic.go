package verbs

import (
	"fmt"
	"syscall"
)

// nic is an open port of a device with its queues: the seam between the
// protocol and the library. The shim implements it over libibverbs; tests have
// one of their own.
//
// turn, arm and qp calls on one queue pair belong to the owner of the domain;
// the others are for any goroutine.
type nic interface {
	// rings are the descriptors that turn reads and writes.
	rings() *rings
	// turn posts the first sends and recvs of the rings, then polls for at most
	// maxRecv and maxSend completions, which it leaves in the rings: one
	// crossing for all of it. Where none is there it looks again, at most looks
	// times in all. A send that can't be posted has its errno in refused, as has
	// everything behind it on the same queue pair.
	turn(sends, recvs, maxRecv, maxSend, looks int) polled
	// slots says where receive slot 0 is.
	slots(base uint64, size, lkey uint32)

	// arm asks for an event of the completion channel at the next receive, or
	// the next solicited one, and at the next completion of a send.
	arm(solicited bool) error
	// drain takes the events of the completion channel and says how many.
	drain() int
	eventFD() int // of the completion channel, non-blocking
	asyncFD() int // non-blocking
	async() (asyncEvent, bool)

	register(addr uint64, n int, access uint32) (mr, error)
	deregister(mr) error

	// createQP also says how many bytes it takes inline.
	createQP() (q qp, inline int, err error)
	// connectQP makes a queue pair ready to send and receive.
	connectQP(qp, path) error
	// failQP flushes everything that is outstanding.
	failQP(qp) error
	// destroyQP ends all use of memory by the queue pair.
	destroyQP(qp) error

	close() error
}

// rings are memory that Go shares with the shim.
type rings struct {
	sends []sendDesc
	recvs []uint32 // slots to post
	rdone []doneDesc
	sdone []doneDesc
}

const (
	sendRing = 64
	recvRing = 256
	doneRing = 64
)

// polled is what a turn has found: completions of receives in bits 0-15, of
// sends in bits 16-31, refused sends in bits 32-47, an errno in bits 48-62.
type polled uint64

func (p polled) recvs() int   { return int(p & 0xffff) }
func (p polled) sends() int   { return int(p >> 16 & 0xffff) }
func (p polled) refused() int { return int(p >> 32 & 0xffff) }

// well says that nothing was refused and nothing failed.
func (p polled) well() bool { return p>>32 == 0 }

// err is why receives could not be posted, or a queue not be polled.
func (p polled) err() error {
	if e := p >> 48; e != 0 {
		return fmt.Errorf("post receives or poll: %w", syscall.Errno(e))
	}
	return nil
}

// mr is a registration.
type mr struct {
	id         uint64
	lkey, rkey uint32
}

// qp is a queue pair.
type qp struct {
	id     uint64
	number uint32
}

// path is what connectQP needs to know of the way to a peer.
type path struct {
	qpn, psn, myPSN uint32
	gid             [16]byte
	lid             uint16
	mtu             uint8 // as in enum ibv_mtu
	reads           uint8 // READs and atomics outstanding, as requester
	answers         uint8 // the same as responder
}

// Access bits of register, as in enum ibv_access_flags.
const (
	accessLocalWrite   = 1 << 0
	accessRemoteWrite  = 1 << 1
	accessRemoteRead   = 1 << 2
	accessRemoteAtomic = 1 << 3
)

// asyncEvent is a message of the device.
type asyncEvent struct {
	kind asyncKind
	qpn  uint32
	name string
}

type asyncKind uint8

const (
	asyncOther asyncKind = iota
	asyncQP              // a queue pair has failed
	asyncPortDown
	asyncPortUp
	asyncDevice // nothing works any more
)

const (
	queueDepth = 128 // sends outstanding to a peer
	// sendReserve is kept of it for the transport's own.
	sendReserve = 4
	// ackTimeout is the local ACK timeout as an exponent of 4.096 µs, 134 ms;
	// with ackRetries a silent path is given up after about a second.
	ackTimeout = 15
	ackRetries = 7
)

// nicOptions say what to open.
type nicOptions struct {
	device                     string
	port, gidIndex             int
	global                     bool // packets carry GIDs, as on Ethernet
	srqDepth, recvCQE, sendCQE int
	inline                     int
	marks                      marks
}

// attributes are what the library says of a device and a port.
type attributes struct {
	maxMessage     int // bytes
	maxCQE, maxSRQ int
	answers, reads int // READs and atomics outstanding on a queue pair
	atomics        bool
	global         bool // atomic with the processor's own, too
	mtu            uint8
	lid            uint16
	firmware       string
}
