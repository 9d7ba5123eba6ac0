package shm

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// endpoint is the way to one peer. It belongs to the owner, but for what Write and
// Knock use; the goroutines that dial and watch know it only by its rank and
// address.
type endpoint struct {
	d      *Domain
	peer   fabric.Peer
	dialed bool
	up     bool
	down   error // why it is
	dying  error // why it will be, once its ring is empty
	left   bool  // it has left us
	gone   bool  // we have left it
	died   bool  // its process has ended
	tx     producer
	wake   *uint64 // the peer's wake word
	fenced bool    // there is no membarrier: Knock fences
	knocks uint32  // what it exchanges
	info   *peerInfo
	seg    []byte // what holds both rings
	rx     *inbound
	heard  uint64 // rx.head at the last Send
	coop   coopSlots

	stopped []*getJob // its transfers, once it was ended or we close

	// See write.go.
	way     atomic.Pointer[way]
	writers sync.RWMutex

	// See flush.go.
	begun   uint64 // jobs so far
	running int    // of these
	flushes []flush
	unsaid  error // first failure of a NoOp that no Flush has reported
}

// Send copies a message into the peer's ring.
func (e *endpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	if !e.up {
		return e.notUp()
	}
	if len(hdr) > fabric.MaxHeader || len(body) > maxEager {
		return fabric.ErrTooLong
	}
	e.noteReply()
	for !e.tx.put(kind, imm, hdr, body) {
		if !e.enlarge() {
			return e.full()
		}
	}
	// Pairs with Arm: the peer stores its wake word, and a membarrier, or the
	// fence of this publish, makes sure that either this load sees the word or
	// its next Poll sees the message.
	if loadWake(e.wake) != 0 {
		e.ring(kind)
	}
	return nil
}

// noteReply notes whether the message that goes next may be a reply.
func (e *endpoint) noteReply() {
	if e.rx != nil {
		e.tx.answers = e.rx.head != e.heard
		e.heard = e.rx.head
	}
}

// SendPacked is Send with a body that is packed into the peer's ring.
func (e *endpoint) SendPacked(kind uint8, imm uint64, hdr []byte, body fabric.Packed, at uint64, n int) error {
	if !e.up {
		return e.notUp()
	}
	if len(hdr) > fabric.MaxHeader || n > maxEager {
		return fabric.ErrTooLong
	}
	e.noteReply()
	for !e.tx.putPacked(kind, imm, hdr, body, at, n) {
		if !e.enlarge() {
			return e.full()
		}
	}
	// As in Send.
	if loadWake(e.wake) != 0 {
		e.ring(kind)
	}
	return nil
}

// notUp returns why nothing can be sent now.
func (e *endpoint) notUp() error {
	if e.d.closed.Load() {
		return fabric.ErrClosed
	}
	if e.down != nil {
		return e.down
	}
	return fabric.ErrAgain
}

// full returns the error for a message that found no room. It wakes the peer
// first, since a full ring is urgent.
func (e *endpoint) full() error {
	if e.tx.scribbled() {
		e.d.fail(e, &fabric.Error{Op: "send over shared memory", Peer: e.peer, HasPeer: true,
			Err: fmt.Errorf("%w: it claims to have received more than was sent", fabric.ErrPeerDown)})
		e.d.Wake() // for PeerDown
		return e.down
	}
	if loadWake(e.wake) != 0 {
		e.ring(fabric.Urgent)
	}
	return fabric.ErrAgain
}
