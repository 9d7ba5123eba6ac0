package mem

import (
	"math"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// endpoint is the way from one rank to another, or to itself. It belongs to the
// owner.
type endpoint struct {
	fabric.Unoffered // Pack

	d    *domain
	to   fabric.Peer
	peer *domain
	q    *queue

	knocks uint32 // what Knock exchanges
}

// admit returns nil if an operation may begin, else why not.
func (e *endpoint) admit() error {
	d := e.d
	if !d.guard.live(0) {
		return fabric.ErrClosed
	}
	if s := &d.peers[e.to]; s.down != nil {
		return s.down
	}
	if e.peer.leftWhy(d.rank) != nil {
		return fabric.ErrAgain // until Poll has said so
	}
	if d.chaos != nil && d.chaos.refuse() {
		d.bell.ring() // no room will be made that could wake the caller
		return fabric.ErrAgain
	}
	return nil
}

func (e *endpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	if len(hdr) > fabric.MaxHeader || len(body) > maxEager {
		return fabric.ErrTooLong
	}
	if err := e.admit(); err != nil {
		return err
	}
	s := e.q.reserve()
	if s == nil {
		return fabric.ErrAgain
	}
	s.kind, s.imm = kind, imm
	s.hdrLen = uint8(copy(s.hdr[:], hdr))
	s.body = e.q.room(s, len(body))
	copy(s.body, body)
	e.q.publish()
	e.knock(kind&fabric.Urgent != 0)
	return nil
}

// knock tells the peer of what publish has just made visible, and rings its bell
// for it.
func (e *endpoint) knock(urgent bool) {
	e.peer.ready.mark(e.d.rank)
	b := &e.peer.bell
	switch l := fabric.Wake(b.level.Load()); { // pairs with Arm: see bell.level
	case l == 0:
	case l > fabric.WakeUrgent, urgent, e.q.filling():
		b.ring()
	}
}

func (e *endpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) error {
	if err := e.admitRemote(); err != nil {
		return err
	}
	b, err := e.enter("put", dst, len(src.Bytes), fabric.RemoteWrite)
	if err != nil {
		return err
	}
	copy(b.bytes, src.Bytes)
	e.leave(b)
	e.finish(op)
	return nil
}

func (e *endpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	if err := e.admitRemote(); err != nil {
		return err
	}
	b, err := e.enter("get", src, len(dst.Bytes), fabric.RemoteRead)
	if err != nil {
		return err
	}
	copy(dst.Bytes, b.bytes)
	e.leave(b)
	e.finish(op)
	return nil
}

// Atomic acts with the processor's atomics, so that the peer's own sync/atomic
// operations on the word are atomic with it.
func (e *endpoint) Atomic(a fabric.Atomic, dst fabric.Remote, op fabric.Op) error {
	if a.Kind != fabric.FetchAdd && a.Kind != fabric.CompareSwap {
		return fabric.ErrUnsupported
	}
	if err := e.admitRemote(); err != nil {
		return err
	}
	b, err := e.enter("atomic", dst, 8, fabric.RemoteAtomic)
	if err != nil {
		return err
	}
	w := word(b.bytes) // pairs with every other Atomic on the word
	var old uint64
	if a.Kind == fabric.FetchAdd {
		old = atomic.AddUint64(w, a.Operand) - a.Operand
	} else {
		for {
			old = atomic.LoadUint64(w)
			if old != a.Compare || atomic.CompareAndSwapUint64(w, old, a.Operand) {
				break
			}
		}
	}
	e.leave(b)
	if a.Result != nil {
		*a.Result = old
	}
	e.finish(op)
	return nil
}

// admitRemote is admit for an operation that completes through done.
func (e *endpoint) admitRemote() error {
	if err := e.admit(); err != nil {
		return err
	}
	if e.d.done.full() {
		return fabric.ErrAgain
	}
	return nil
}

// Flush completes at once: earlier operations have been carried out.
func (e *endpoint) Flush(op fabric.Op) error {
	if err := e.admitRemote(); err != nil {
		return err
	}
	e.finish(op)
	return nil
}

// Reach returns registered memory of the peer. It is this process's own, so it
// stays reachable whatever becomes of its registration.
func (e *endpoint) Reach(r fabric.Remote) ([]byte, error) {
	if err := e.admit(); err != nil {
		return nil, err
	}
	in, err := e.enter("reach", r, int(min(r.Len, math.MaxInt)), fabric.RemoteRead|fabric.RemoteWrite)
	if err != nil {
		return nil, err
	}
	e.leave(in)
	return in.bytes, nil
}

// Knock pairs with Arm, as knock does: the exchange keeps the load behind the
// caller's store.
func (e *endpoint) Knock(urgent bool) {
	atomic.SwapUint32(&e.knocks, 1)
	b := &e.peer.bell
	if l := fabric.Wake(b.level.Load()); l > fabric.WakeUrgent || l != 0 && urgent {
		b.ring()
	}
}

// inside is a peer's memory while a copy is under way.
type inside struct {
	region *region
	bytes  []byte
}

// enter checks m and keeps the peer's region, the peer's part with this rank and
// this rank from ending until leave.
func (e *endpoint) enter(op string, m fabric.Remote, n int, a fabric.Access) (inside, error) {
	if !e.d.guard.enter(0) {
		return inside{}, fabric.ErrClosed
	}
	door := &e.peer.doors[e.d.rank]
	if !door.enter(0) {
		e.d.guard.leave()
		return inside{}, fabric.ErrAgain // until Poll says that the peer has ended this rank
	}
	r, b := e.peer.regions.enter(m, n, a)
	if r != nil {
		return inside{r, b}, nil
	}
	door.leave()
	e.d.guard.leave()
	if e.peer.leftWhy(e.d.rank) != nil {
		return inside{}, fabric.ErrAgain // the region went with the peer
	}
	return inside{}, badRemote(op, e.to, m, n)
}

func (e *endpoint) leave(b inside) {
	b.region.guard.leave()
	e.peer.doors[e.d.rank].leave()
	e.d.guard.leave()
}

// finish leaves the completion of op to the next Poll.
func (e *endpoint) finish(op fabric.Op) {
	if op == fabric.NoOp {
		return // it has not failed, so there is nothing to tell
	}
	e.d.peers[e.to].inflight++
	e.d.done.push(finished{op: op, peer: e.to})
}
