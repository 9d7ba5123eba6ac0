package killpoint

import "github.com/weft-mpi/weft/fabric"

// endpoint is an endpoint whose traffic has points. It is the owner's.
type endpoint struct {
	fabric.Endpoint
	d    *domain
	peer fabric.Peer
}

func (e *endpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	happen(Sending, kind, e.peer)
	err := e.Endpoint.Send(kind, imm, hdr, body)
	if err == nil {
		happen(Sent, kind, e.peer)
	}
	return err
}

func (e *endpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	if e.d.ways == Fragments {
		return fabric.ErrUnsupported
	}
	err := e.Endpoint.Get(dst, src, op)
	e.began(Getting, Got, op, err)
	return err
}

func (e *endpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) error {
	err := e.Endpoint.Put(src, dst, op)
	e.began(Putting, Put, op, err)
	return err
}

// began records a transfer that was accepted. Its completion comes from a Poll,
// so it can't have come yet.
func (e *endpoint) began(begin, end Event, op fabric.Op, err error) {
	if err != nil {
		return
	}
	if op != fabric.NoOp {
		e.d.ops[op] = transfer{end, e.peer}
	}
	happen(begin, 0, e.peer)
}

// Poll hands the events of the domain within to h.
func (d *domain) Poll(h fabric.Handler, max int) int {
	d.h = h
	return d.Domain.Poll((*handler)(d), max)
}

// handler is the domain as the Handler of the domain within.
type handler domain

func (d *handler) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	happen(Delivering, kind, from)
	d.h.Deliver(from, kind, imm, hdr, body)
	happen(Delivered, kind, from)
}

func (d *handler) Complete(op fabric.Op, err error) {
	if t, ok := d.ops[op]; ok {
		delete(d.ops, op)
		happen(t.end, 0, t.peer)
	}
	d.h.Complete(op, err)
}

func (d *handler) PeerDown(p fabric.Peer, err error) { d.h.PeerDown(p, err) }
