package progress

import (
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/fabric"
)

// Conn is the way to one peer, with the operations that wait for room on it in
// the order they were begun.
type Conn struct {
	loop *Loop
	Peer fabric.Peer
	via  int // index in Loop.doms
	ep   fabric.Endpoint
	down error
	lost error // its death, if others have told of it while it was connected
	// ending says that the fabric was asked to end the peer, see EndPeer.
	ending  bool
	leaving bool // see Leaving

	head, tail *packet
}

// peers are the ways to all peers, and what is to be done for some of them.
type peers struct {
	backlogged []*Conn
	doms       []fabric.Domain // the first is Loop.dom
	addrs      [][]byte
	packets    *packet // free list
}

// packet is an entry of a backlog: a request that resumes, or a control packet
// on its own.
type packet struct {
	next *packet
	r    *Request
	imm  uint64
	kind uint8
	n    uint8
	hdr  [fabric.MaxHeader]byte
	body []byte // a copy; its memory is kept with the packet
}

// Conn returns the way to a peer and connects at the first call.
func (l *Loop) Conn(p fabric.Peer) *Conn {
	c := &l.conns[p]
	if c.ep == nil && c.down == nil {
		c.connect()
	}
	return c
}

func (c *Conn) connect() {
	l := c.loop
	ep, err := l.Via(c.Peer).Connect(c.Peer, l.addrs[c.Peer])
	if err == nil {
		c.ep = ep
		return
	}
	c.down = &fabric.Error{Op: "connect", Peer: c.Peer, HasPeer: true, Err: fmt.Errorf("%w: %w", fabric.ErrUnreachable, err)}
	l.Later(func() { l.tellDown(c) }) // not while the operation that connects is being started
}

// Down returns why the peer can't be reached any more, or nil.
func (c *Conn) Down() error { return c.down }

// Endpoint is for operations that need no order: Get, and Put of a rendezvous.
// It is nil if the peer could never be connected to.
func (c *Conn) Endpoint() fabric.Endpoint { return c.ep }

// Busy reports that operations wait, which a new one may not overtake.
func (c *Conn) Busy() bool { return c.head != nil }

// Send sends a message. If earlier ones still wait, or the fabric has no room,
// it returns fabric.ErrAgain, and the caller enqueues its request.
func (c *Conn) Send(kind uint8, imm uint64, hdr, body []byte) error {
	if c.head != nil {
		return fabric.ErrAgain
	}
	return c.ep.Send(kind, imm, hdr, body)
}

// Post sends a control packet, now or from the backlog. Packets to a peer that
// is down are dropped.
func (c *Conn) Post(kind uint8, imm uint64, hdr []byte) { c.PostBody(kind, imm, hdr, nil) }

// PostBody is Post with a body of at most Caps.MaxEager bytes. It is the
// caller's again on return: a packet that waits has a copy.
func (c *Conn) PostBody(kind uint8, imm uint64, hdr, body []byte) {
	if c.down != nil {
		return
	}
	if c.Send(kind, imm, hdr, body) != fabric.ErrAgain {
		return // any other failure ends in PeerDown
	}
	p := c.loop.packet()
	p.kind, p.imm, p.n = kind, imm, uint8(copy(p.hdr[:], hdr))
	p.body = append(p.body[:0], body...)
	c.enqueue(p)
}

// Enqueue appends a request to the peer's backlog. Its sink's Resume is called
// once it is at the head.
func (c *Conn) Enqueue(r *Request) {
	p := c.loop.packet()
	p.r = r
	r.queued = p
	c.enqueue(p)
}

func (c *Conn) enqueue(p *packet) {
	c.loop.counts.waited++
	if c.head == nil {
		c.head = p
		c.loop.backlogged = append(c.loop.backlogged, c)
		c.loop.counts.room.Start()
	} else {
		c.tail.next = p
	}
	c.tail = p
	c.loop.Rouse() // room does not ring
}

// Queued reports whether the request waits in a backlog.
func (r *Request) Queued() bool { return r.queued != nil }

// Withdraw takes a request out of the backlog.
func (c *Conn) Withdraw(r *Request) {
	if p := r.queued; p != nil {
		// It stays as an empty entry, so nothing behind it moves.
		p.r, p.kind = nil, 0
		r.queued = nil
	}
}

// flush sends what has room now and returns how much moved. A peer with an empty
// backlog leaves the list.
func (l *Loop) flush() (moved int) {
	for i := 0; i < len(l.backlogged); i++ {
		c := l.backlogged[i]
		if moved += c.flush(); !c.Busy() { // at once: what the next one moves may wait here again
			l.backlogged = slices.Delete(l.backlogged, i, i+1)
			i--
		}
	}
	l.counts.room.Set(len(l.backlogged) > 0)
	return moved
}

// flush counts the entries that left the backlog, and a request that moved on
// but stays. After a burst it leaves the rest to the next pass: the peer may
// meanwhile have announced that it takes no more.
func (c *Conn) flush() (moved int) {
	for p := c.head; p != nil && moved < burst; p = c.head {
		var err error
		switch r := p.r; {
		case r != nil:
			before := r.Moved
			r.queued = nil // from here on the request may be over
			if err = r.sink.Resume(r); err == fabric.ErrAgain {
				r.queued = p
				if r.Moved != before {
					moved++
				}
			}
		case p.kind != 0:
			err = c.ep.Send(p.kind, p.imm, p.hdr[:p.n], p.body)
		}
		if err == fabric.ErrAgain {
			return moved
		}
		moved++
		if c.head == p { // not dropped meanwhile
			c.head = p.next
			c.loop.recycle(p)
		}
	}
	return moved
}

// drop empties the backlog of a peer that is down; the sinks end its requests.
func (c *Conn) drop() {
	for p := c.head; p != nil; p = c.head {
		if p.r != nil {
			p.r.queued = nil
		}
		c.head = p.next
		c.loop.recycle(p)
	}
}

func (l *Loop) packet() *packet {
	p := l.packets
	if p == nil {
		return new(packet)
	}
	l.packets, p.next = p.next, nil
	return p
}

func (l *Loop) recycle(p *packet) {
	p.r, p.kind, p.n, p.body = nil, 0, 0, p.body[:0]
	p.next, l.packets = l.packets, p
}
