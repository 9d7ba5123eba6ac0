package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// controlSize is the length in bytes of a control segment: a page of the
// domain's own words, and the memory of Share, whose pages are allocated as it
// is used.
const (
	controlSize = 256 << 10
	offShare    = 4 << 10
)

// Share allocates a part of the control segment, which every peer maps. It is
// never freed, so a late store of a peer can't land in anything else.
func (d *Domain) Share(n int) (fabric.Segment, error) {
	if d.closed.Load() {
		return fabric.Segment{}, fabric.ErrClosed
	}
	size := max((n+lineSize-1)&^(lineSize-1), lineSize)
	if n < 0 || size > controlSize-d.shared {
		return fabric.Segment{}, &fabric.Error{Op: "share memory",
			Err: fmt.Errorf("%d bytes are wanted, %d of %d are in use", n, d.shared-offShare, controlSize-offShare)}
	}
	if err := populate(d.control[:d.shared+size]); err != nil {
		return fabric.Segment{}, err
	}
	at := d.shared
	d.shared += size
	return fabric.Segment{Bytes: d.control[at : at+n : at+size],
		Region: fabric.Region{Remote: fabric.Remote{Addr: uint64(at), Len: uint64(n), Key: keyShare}}}, nil
}

// mapped returns the n bytes at addr of a peer's memory that is mapped here, or
// nil if the key says that it is not. For any goroutine.
func (p *peerInfo) mapped(key, addr, n uint64) ([]byte, error) {
	switch key {
	case keyVirtual:
		return nil, nil
	case keyArena:
		return p.arena.at(addr, n)
	}
	if key != keyShare || addr < offShare || addr > controlSize || n > controlSize-addr {
		return nil, fabric.ErrBadRemote
	}
	return p.control[addr : addr+n : addr+n], nil
}

// Reach returns memory of the peer's arena or control segment. Both stay mapped
// until the domain is closed.
func (e *endpoint) Reach(r fabric.Remote) ([]byte, error) {
	if !e.up || e.d.closed.Load() {
		return nil, e.notUp()
	}
	b, err := e.info.mapped(r.Key, r.Addr, r.Len)
	switch {
	case err != nil:
		return nil, &fabric.Error{Op: "reach memory of a peer", Peer: e.peer, HasPeer: true, Err: err}
	case b == nil:
		return nil, fabric.ErrUnsupported
	}
	return b, nil
}

// Knock rings the doorbell of a peer that sleeps. The wake word and the bell
// exist until the domain is closed, so it is for any goroutine. It pairs with
// Arm as a message does: see Send. Without membarrier the exchange keeps the
// load after the caller's store.
func (e *endpoint) Knock(urgent bool) {
	if e.fenced {
		atomic.SwapUint32(&e.knocks, 1)
	}
	w := loadWake(e.wake)
	if w == 0 || fabric.Wake(w&wakeLevel) == fabric.WakeUrgent && !urgent {
		return
	}
	e.wakeUp(w)
}
