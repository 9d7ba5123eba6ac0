package mem

import (
	"math/bits"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// slot is one message under way. The sender owns it from reserve to publish,
// the receiver from there to release.
type slot struct {
	kind   uint8
	hdrLen uint8
	imm    uint64
	hdr    [fabric.MaxHeader]byte
	body   []byte
	buf    []byte // kept from lap to lap
}

// room returns n bytes of the slot's own buffer, which grows by doubling. For the
// sender.
func (q *queue) room(s *slot, n int) []byte {
	if cap(s.buf) < n {
		q.held -= uint64(cap(s.buf))
		s.buf = make([]byte, 1<<bits.Len(uint(max(n, 64)-1)))
		q.held += uint64(cap(s.buf))
	}
	return s.buf[:n]
}

// slotBytes is the size of a slot without its buffer.
const slotBytes = 112

// stretch is a run of slots, used again and again until the sender has a longer
// one.
type stretch struct {
	slots []slot
	from  uint64 // number of the first message in it
	// next is the stretch that takes over from message next.from on. Its store in
	// reserve, before that message is published, pairs with the load in peek.
	next atomic.Pointer[stretch]
}

// shortest is how many slots a queue begins with. One that is seldom used, of a
// job of many ranks, has no more.
const shortest = 8

// queue carries the messages of one ordered pair of ranks. The sending rank's
// owner calls reserve and publish, the receiving rank's owner peek and release.
type queue struct {
	depth uint64 // most messages published and not released
	_     [64]byte

	// The sender's line. tail is the number of messages published: its store
	// in publish pairs with the load in peek, which then sees the slot.
	tail     atomic.Uint64
	sent     uint64 // tail, without the atomic
	free     uint64 // number of the first message whose slot may not be free
	headSeen uint64
	in       *stretch
	held     uint64 // bytes of buffers of the slots
	put      int    // slot of message number sent
	_        [64]byte

	// The receiver's line. head is the number of messages released: its store
	// in release pairs with the load in reserve, which then may reuse the slot.
	head     atomic.Uint64
	got      uint64 // head, without the atomic
	tailSeen uint64
	out      *stretch
	take     int // slot of message number got
	_        [64]byte

	// starved is set by a sender that found no room. The sender stores starved
	// and then loads head; the receiver stores head and then loads starved: one
	// of them sees the other, so room is never made unheard.
	starved atomic.Bool
}

func newQueue(depth int) *queue {
	s := &stretch{slots: make([]slot, min(depth, shortest))}
	return &queue{depth: uint64(depth), in: s, out: s, free: uint64(len(s.slots))}
}

// reserve returns the slot that the next publish will hand over, nil if the
// queue is full. A reservation need not be used.
func (q *queue) reserve() *slot {
	if q.sent == q.free && !q.makeRoom() {
		return nil
	}
	return &q.in.slots[q.put]
}

// makeRoom loads what has been released. If that is nothing it begins a longer
// stretch, where the depth permits it.
func (q *queue) makeRoom() bool {
	if q.sent != q.see() {
		return true
	}
	if uint64(len(q.in.slots)) < q.depth {
		s := &stretch{slots: make([]slot, min(2*len(q.in.slots), int(q.depth))), from: q.sent}
		q.in.next.Store(s)
		q.in, q.put, q.held = s, 0, 0
		if q.sent != q.see() {
			return true
		}
	}
	q.starved.Store(true)
	return q.sent != q.see()
}

// see loads head and sets free by it.
func (q *queue) see() uint64 {
	q.headSeen = q.head.Load()
	q.free = min(q.headSeen+q.depth, max(q.headSeen, q.in.from)+uint64(len(q.in.slots)))
	return q.free
}

// publish hands the reserved slot to the receiver.
func (q *queue) publish() {
	q.sent++
	if q.put++; q.put == len(q.in.slots) {
		q.put = 0
	}
	q.tail.Store(q.sent)
}

// filling says whether the queue is half full. The sender calls it.
func (q *queue) filling() bool { return 2*(q.sent-q.head.Load()) >= q.depth }

// peek returns the oldest slot, nil if the queue is empty.
func (q *queue) peek() *slot {
	if q.got == q.tailSeen {
		q.tailSeen = q.tail.Load()
		if q.got == q.tailSeen {
			return nil
		}
	}
	if s := q.out.next.Load(); s != nil && s.from == q.got {
		q.out, q.take = s, 0
	}
	return &q.out.slots[q.take]
}

// release gives the oldest slot back and reports whether the sender has found no
// room since and waits for some.
func (q *queue) release() (starved bool) {
	q.got++
	if q.take++; q.take == len(q.out.slots) {
		q.take = 0
	}
	q.head.Store(q.got)
	return q.starved.Load() && q.starved.Swap(false)
}
