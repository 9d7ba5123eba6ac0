package tcp

import (
	"encoding/binary"

	"github.com/weft-mpi/weft/fabric"
)

// endpoint is the way to one peer. It belongs to the owner.
type endpoint struct {
	fabric.Unoffered // no memory is shared with another host

	d    *Domain
	peer fabric.Peer

	msg, bulk *conn // nil until they stand
	list      opList
	inFlight  int   // operations of the list
	quiet     error // the failure of a NoOp that no Flush is to tell of yet

	badPuts []uint64 // Puts of the peer of which a piece was rejected
	down    error    // why the peer is down: PeerDown has been called, or End
	dying   error    // why it will be, once its messages have been handed over
	asked   bool     // for the connection for bulk data
	doomed  bool     // in Domain.dying
	news    error    // of its death, from outside
	came    uint64   // bytes by the last look for more, see overdue
	asking  asking   // whether the peer has given this rank up
	rest    int      // doomed: bytes of its messages that the kernel has
	buried  bool     // its connections are closed, and its operations are over
	left    bool     // the peer has said that it leaves
	mute    bool     // the peer polls in its own calls only: its silence says nothing
}

// reserve is the part of what can be staged that messages leave to requests, the
// longest of which is an Atomic, and to replies: maxOps of each. A few frames that are
// a header only come on top.
const reserve = maxOps*(headerSize+41+headerSize+8) + 8*headerSize

// admit returns nil if the endpoint can be used.
func (e *endpoint) admit() error {
	switch {
	case e.d.closed.Load():
		return fabric.ErrClosed
	case e.down != nil:
		return e.down
	case e.msg == nil || e.dying != nil:
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
	e.d.passing(kind, body)
	h := header{body: uint32(len(body)), form: formMessage, kind: kind, more: uint8(len(hdr)), imm: imm}
	c, d := e.msg, e.d
	if d.sends++; c.clear() && (d.sends == 1 || d.cfg.Unattended) {
		return e.sendAlone(c, h, hdr, body)
	}
	if len(body) >= gatherSize { // rather a system call than a copy
		if c.flush(); c.clear() {
			return e.sendAlone(c, h, hdr, body)
		}
	}
	n := headerSize + len(hdr) + len(body)
	if !c.room(n + reserve) {
		c.flush()
		if !c.room(n + reserve) {
			d.counts.noRoom++
			return fabric.ErrAgain
		}
	}
	c.stage(h, hdr, body)
	if len(c.staged)-c.sent >= gatherSize || d.cfg.Unattended {
		c.flush()
	} else {
		d.rouse()
	}
	return nil
}

// sendAlone writes a message at once. What the kernel does not accept is staged.
func (e *endpoint) sendAlone(c *conn, h header, hdr, body []byte) error {
	head := e.d.scratch[:headerSize+len(hdr)]
	h.put(head)
	copy(head[headerSize:], hdr)
	var n int
	errno := again
	if len(body) <= len(e.d.scratch)-len(head) {
		head = append(head, body...)
		n, errno = c.sendOne(head)
		body = nil
	} else {
		n, errno = c.send(&[3][]byte{head, body, nil})
	}
	if errno != 0 && errno != again {
		c.fail(errno)
		return fabric.ErrAgain // until Poll has said so
	}
	if n < len(head)+len(body) {
		k := min(n, len(head))
		c.room(len(head) + len(body))
		c.staged = append(append(c.staged, head[k:]...), body[n-k:]...)
	}
	if !c.clear() {
		c.wantSend()
		c.block()
	}
	return nil
}

// flush writes what is staged. An error is the Poll's to tell, and so is what the
// kernel would accept beyond a share: nothing but a Poll goes on with that.
func (c *conn) flush() {
	if _, err := c.write(c.e.d.share()); err != nil {
		c.fail(err)
	} else if !c.blocked && (!c.clear() || c.jobs.len() > 0) {
		c.e.d.rouse()
	}
}

// fail notes that the connection can't be written to any more. What the peer has
// sent before is still read.
func (c *conn) fail(err error) {
	c.e.d.lose(c.e, err)
}

// begin admits an operation.
func (e *endpoint) begin() error {
	if err := e.admit(); err != nil {
		return err
	}
	if e.inFlight >= maxOps {
		return fabric.ErrAgain
	}
	return nil
}

// request sends the frame of an operation.
func (e *endpoint) request(h header, more []byte) {
	c := e.msg
	c.stage(h, more, nil)
	c.flush()
}

func (e *endpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	if err := e.begin(); err != nil {
		return err
	}
	if uint64(len(dst.Bytes)) > src.Len {
		return badRemote(e.peer)
	}
	if !e.msg.room(headerSize + int(moreOf[formGet])) {
		return fabric.ErrAgain
	}
	o := e.d.ops.take(e, opGet, op)
	o.dst, o.end = dst.Bytes, uint64(len(dst.Bytes))
	var more [32]byte
	putRemote(more[:], src)
	binary.LittleEndian.PutUint64(more[24:], uint64(len(dst.Bytes)))
	e.request(header{form: formGet, more: moreOf[formGet], imm: o.id}, more[:])
	return nil
}

func (e *endpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) error {
	if err := e.begin(); err != nil {
		return err
	}
	if uint64(len(src.Bytes)) > dst.Len {
		return badRemote(e.peer)
	}
	o := e.d.ops.take(e, opPut, op)
	c := e.data(uint64(len(src.Bytes)))
	c.jobs.push(job{form: formPut, id: o.id, src: src.Bytes, dst: dst})
	c.wantSend()
	c.flush()
	return nil
}

func (e *endpoint) Atomic(a fabric.Atomic, dst fabric.Remote, op fabric.Op) error {
	if a.Kind != fabric.FetchAdd && a.Kind != fabric.CompareSwap {
		return fabric.ErrUnsupported
	}
	if err := e.begin(); err != nil {
		return err
	}
	if !e.msg.room(headerSize + int(moreOf[formAtomic])) {
		return fabric.ErrAgain
	}
	o := e.d.ops.take(e, opAtomic, op)
	o.result = a.Result
	var more [41]byte
	putRemote(more[:], dst)
	binary.LittleEndian.PutUint64(more[24:], a.Operand)
	binary.LittleEndian.PutUint64(more[32:], a.Compare)
	more[40] = byte(a.Kind)
	e.request(header{form: formAtomic, more: moreOf[formAtomic], imm: o.id}, more[:])
	return nil
}

// Flush completes with the operations before it: each completes once the peer has
// carried it out.
func (e *endpoint) Flush(op fabric.Op) error {
	if err := e.begin(); err != nil {
		return err
	}
	if e.list.head == nil {
		e.d.done = append(e.d.done, completion{op, e.quiet})
		e.quiet = nil
		e.d.rouse()
		return nil
	}
	o := e.d.ops.take(e, opFlush, op)
	o.err, e.quiet = e.quiet, nil
	return nil
}

// data is the connection for so many bytes of bulk data.
func (e *endpoint) data(n uint64) *conn {
	switch {
	case n < bulkMin:
	case e.bulk != nil:
		return e.bulk
	case !e.asked:
		e.asked = true
		e.d.wantBulk(e.peer)
	}
	return e.msg
}

func badRemote(p fabric.Peer) error {
	return &fabric.Error{Op: "reach memory over TCP", Peer: p, HasPeer: true, Err: fabric.ErrBadRemote}
}
