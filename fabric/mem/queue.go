package mem

import (
	"math/bits"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// form is what a slot carries.
type form uint8

const (
	message  form = iota // Send: body is in the slot
	borrowed             // SendZ: body is still in the sender's memory
	note                 // the note of a Put
)

// slot is one message under way. The sender owns it from reserve to publish,
// the receiver from there to release.
type slot struct {
	form   form
	kind   uint8
	hdrLen uint8
	note   uint32
	imm    uint64
	hdr    [fabric.MaxHeader]byte
	body   []byte
	buf    []byte // kept from lap to lap
}

// room returns n bytes of the slot's own buffer, which grows by doubling.
func (s *slot) room(n int) []byte {
	if cap(s.buf) < n {
		s.buf = make([]byte, 1<<bits.Len(uint(max(n, 64)-1)))
	}
	return s.buf[:n]
}

// queue carries the messages of one ordered pair of ranks. The sending rank's
// owner calls reserve and publish, the receiving rank's owner peek and release.
type queue struct {
	slots []slot
	_     [64]byte

	// The sender's line. tail is the number of messages published: its store
	// in publish pairs with the load in peek, which then sees the slot.
	tail     atomic.Uint64
	sent     uint64 // tail, without the atomic
	headSeen uint64
	put      int // slot of message number sent
	_        [64]byte

	// The receiver's line. head is the number of messages released: its store
	// in release pairs with the load in reserve, which then may reuse the slot,
	// and with the load in taken.
	head     atomic.Uint64
	got      uint64 // head, without the atomic
	tailSeen uint64
	take     int // slot of message number got
	_        [64]byte

	// starved is set by a sender that found no room. The sender stores starved
	// and then loads head; the receiver stores head and then loads starved: one
	// of them sees the other, so room is never made unheard.
	starved atomic.Bool
}

func newQueue(depth int) *queue { return &queue{slots: make([]slot, depth)} }

// reserve returns the slot that the next publish will hand over, nil if the
// queue is full. A reservation need not be used.
func (q *queue) reserve() *slot {
	depth := uint64(len(q.slots))
	if q.sent-q.headSeen == depth {
		q.headSeen = q.head.Load()
		if q.sent-q.headSeen == depth {
			q.starved.Store(true)
			q.headSeen = q.head.Load()
			if q.sent-q.headSeen == depth {
				return nil
			}
		}
	}
	return &q.slots[q.put]
}

// publish hands the reserved slot to the receiver and returns its number.
func (q *queue) publish() uint64 {
	n := q.sent
	q.sent++
	if q.put++; q.put == len(q.slots) {
		q.put = 0
	}
	q.tail.Store(q.sent)
	return n
}

// taken says whether the receiver has released message number n.
func (q *queue) taken(n uint64) bool {
	if n >= q.headSeen {
		q.headSeen = q.head.Load()
	}
	return n < q.headSeen
}

// filling says whether the queue is half full. The sender calls it.
func (q *queue) filling() bool {
	return 2*(q.sent-q.head.Load()) >= uint64(len(q.slots))
}

// peek returns the oldest slot, nil if the queue is empty.
func (q *queue) peek() *slot {
	if q.got == q.tailSeen {
		q.tailSeen = q.tail.Load()
		if q.got == q.tailSeen {
			return nil
		}
	}
	return &q.slots[q.take]
}

// release gives the oldest slot back and says whether the sender has been
// refused since and wants to hear of it.
func (q *queue) release() (starved bool) {
	q.got++
	if q.take++; q.take == len(q.slots) {
		q.take = 0
	}
	q.head.Store(q.got)
	return q.starved.Load() && q.starved.Swap(false)
}
