package partitioned

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
)

// modelDomain is a domain of the simulation whose endpoints may offer Write. In the
// middle of a Write, and around each Send, other ranks and goroutines go on: see
// modelWorld.meanwhile.
type modelDomain struct {
	fabric.Domain
	r       *modelRank
	regions map[uint64]modelRegion // by Remote.Key
}

type modelRegion struct {
	fabric.Region
	bytes  []byte
	access fabric.Access
}

func (d *modelDomain) Register(b []byte, a fabric.Access) (fabric.Region, error) {
	reg, err := d.Domain.Register(b, a)
	if err == nil {
		d.regions[reg.Key] = modelRegion{reg, b, a}
	}
	return reg, err
}

func (d *modelDomain) Deregister(r fabric.Region) error {
	delete(d.regions, r.Key)
	return d.Domain.Deregister(r)
}

func (d *modelDomain) Caps() fabric.Caps {
	c := d.Domain.Caps()
	c.Write = d.r.w.writers
	return c
}

func (d *modelDomain) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	ep, err := d.Domain.Connect(p, addr)
	if err != nil {
		return nil, err
	}
	return &modelEndpoint{ep, d.r, d.r.w.ranks[p]}, nil
}

type modelEndpoint struct {
	fabric.Endpoint
	r, to *modelRank
}

func (e *modelEndpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	e.r.w.meanwhile(8)
	err := e.Endpoint.Send(kind, imm, hdr, body)
	e.r.w.meanwhile(8)
	return err
}

func (e *modelEndpoint) Awake() bool { return e.r.w.own.IntN(2) == 0 }

// Write copies a half, lets others go on, and copies the rest.
func (e *modelEndpoint) Write(dst fabric.Remote, src []byte) error {
	w := e.r.w
	switch {
	case e.r.dead:
		return fabric.ErrClosed
	case e.to.dead && w.own.IntN(2) == 0:
		return &fabric.Error{Op: "write", Peer: fabric.Peer(e.to.id), HasPeer: true, Err: fabric.ErrPeerDown}
	case w.own.IntN(256) < w.noWrite:
		return fabric.ErrUnsupported
	}
	m, ok := e.to.dom.regions[dst.Key]
	off := dst.Addr - m.Addr
	if !ok || m.access&fabric.RemoteWrite == 0 || off > m.Len || dst.Len > m.Len-off || uint64(len(src)) > dst.Len {
		w.fail("rank %d writes %d bytes to %+v of rank %d, which is not registered for it", e.r.id, len(src), dst, e.to.id)
	}
	w.writes++
	half := w.own.IntN(len(src) + 1)
	copy(m.bytes[off:], src[:half])
	w.note("  %d>%d writes %d bytes at %d", e.r.id, e.to.id, len(src), off)
	w.meanwhile(2, e.r, e.to)
	copy(m.bytes[off+uint64(half):], src[half:])
	return nil
}

var modelKinds = map[uint8]string{wire.PInit: "PInit", wire.PAccept: "PAccept", wire.PGo: "PGo", wire.PReady: "PReady", wire.PData: "PData",
	wire.PLanded: "PLanded", wire.PDone: "PDone", wire.PFree: "PFree", wire.PStop: "PStop", wire.PStill: "PStill"}

// observe takes what happens in the network.
func (w *modelWorld) observe(e mem.SimEvent) {
	if e.What != mem.SimAgain {
		w.changes++
	}
	switch e.What {
	case mem.SimSent:
		w.seen[e.Kind]++
		w.note("  %d>%d %s of %x %x, %d bytes", e.Rank, e.Peer, modelKinds[e.Kind], e.Imm, e.Hdr, len(e.Body))
	case mem.SimDeliver:
		w.note("  %d<%d %s of %x %x", e.Rank, e.Peer, modelKinds[e.Kind], e.Imm, e.Hdr)
	case mem.SimTransfer:
		w.note("  %d<%d read: %v", e.Rank, e.Peer, e.Err)
		switch {
		case e.Err == nil:
			w.reads++
		case w.ranks[e.Peer].dead: // it fails, as all that needs the dead
		case e.Err == mem.ErrSim:
			w.faults[[2]int{e.Rank, e.Peer}] = true
		default:
			w.fail("a Get of rank %d from %d: %w", e.Rank, e.Peer, e.Err)
		}
	case mem.SimNoGet:
		w.note("  %d<%d no read: %v", e.Rank, e.Peer, e.Err)
	case mem.SimDown:
		w.note("  %d learns of the death of %d", e.Rank, e.Peer)
	case mem.SimMisuse:
		w.fail("rank %d: %w", e.Rank, e.Err)
	}
}
