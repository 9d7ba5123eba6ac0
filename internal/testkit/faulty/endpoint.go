package faulty

import "github.com/weft-mpi/weft/fabric"

// endpoint is an endpoint with faults. It is the owner's.
type endpoint struct {
	fabric.Endpoint
	d    *domain
	down bool // its answer is ErrPeerDown from here on
}

// refuse says whether to answer ErrAgain to an operation that might be
// accepted. No room will be made that could wake the caller, so it wakes
// itself.
func (e *endpoint) refuse(offered bool) bool {
	if !offered || e.down || e.d.closed.Load() || !chance(&e.d.rng, e.d.faults.Again) {
		return false
	}
	e.d.refused++
	e.d.Wake()
	return true
}

// fits says whether a message is within the limits.
func (e *endpoint) fits(hdr, body []byte) bool {
	return len(hdr) <= fabric.MaxHeader && len(body) <= e.d.caps.MaxEager
}

func (e *endpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	if e.refuse(e.fits(hdr, body)) {
		return fabric.ErrAgain
	}
	return e.Endpoint.Send(kind, imm, hdr, body)
}

func (e *endpoint) SendPacked(kind uint8, imm uint64, hdr []byte, body fabric.Packed, at uint64, n int) error {
	if e.refuse(e.d.caps.Pack) {
		return fabric.ErrAgain
	}
	return e.Endpoint.SendPacked(kind, imm, hdr, body, at, n)
}

func (e *endpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) error {
	if e.refuse(e.d.caps.Put) {
		return fabric.ErrAgain
	}
	return e.Endpoint.Put(src, dst, op)
}

func (e *endpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	if e.refuse(e.d.caps.Get) {
		return fabric.ErrAgain
	}
	if !e.down && !e.d.closed.Load() && chance(&e.d.rng, e.d.faults.NoGet) {
		return fabric.ErrUnsupported
	}
	return e.Endpoint.Get(dst, src, op)
}

func (e *endpoint) Atomic(a fabric.Atomic, dst fabric.Remote, op fabric.Op) error {
	if e.refuse(e.d.caps.Atomics) {
		return fabric.ErrAgain
	}
	return e.Endpoint.Atomic(a, dst, op)
}

func (e *endpoint) Reach(r fabric.Remote) ([]byte, error) {
	if e.refuse(e.d.caps.Reach) {
		return nil, fabric.ErrAgain
	}
	return e.Endpoint.Reach(r)
}

func (e *endpoint) Flush(op fabric.Op) error {
	if e.refuse(true) {
		return fabric.ErrAgain
	}
	return e.Endpoint.Flush(op)
}
