package mem

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

var errNotRegistered = errors.New("region is not registered here")

// regions is what one domain has registered. Register and Deregister lock;
// peers look up without.
type regions struct {
	// table grows by copying: its store in register pairs with the load in
	// enter. Entries never move and are used again under a new generation.
	table atomic.Pointer[[]*region]

	mu     sync.Mutex
	free   []uint32 // entries not in use
	next   uint64   // address after the last one given out
	closed bool
}

// region is one registration. What is below guard is written only while the
// guard is shut and read only inside it.
type region struct {
	guard      guard
	bytes      []byte
	base       uint64 // Remote.Addr of bytes[0]
	access     fabric.Access
	generation uint32 // under regions.mu
}

// Addresses begin above 0 and leave a gap after each region, so that none is
// valid by accident.
const (
	firstAddr = 1 << 20
	addrGap   = 4096
	addrAlign = 64
)

func (r *regions) register(b []byte, a fabric.Access) (fabric.Region, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fabric.Region{}, fabric.ErrClosed
	}
	if len(r.free) == 0 {
		r.grow()
	}
	i := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	e := (*r.table.Load())[i]
	e.generation++
	e.bytes, e.access = b, a
	e.base = max(r.next, firstAddr) + misalignment(b)
	r.next = (e.base + uint64(len(b)) + addrGap + addrAlign - 1) &^ (addrAlign - 1)
	e.guard.open(e.generation)
	// An index is given as i+1, so that no key is 0.
	key := uint64(e.generation)<<32 | uint64(i+1)
	return fabric.Region{
		Remote: fabric.Remote{Addr: e.base, Len: uint64(len(b)), Key: key},
		Handle: key,
	}, nil
}

func (r *regions) grow() {
	var old []*region
	if t := r.table.Load(); t != nil {
		old = *t
	}
	add := make([]region, max(len(old), 16))
	table := make([]*region, len(old), len(old)+len(add))
	copy(table, old)
	for i := range add {
		table = append(table, &add[i])
	}
	for i := len(table) - 1; i >= len(old); i-- {
		r.free = append(r.free, uint32(i))
	}
	r.table.Store(&table)
}

// lookup finds the entry of a key, whether or not it is still open.
func (r *regions) lookup(key uint64) *region {
	t := r.table.Load()
	i := uint64(uint32(key))
	if t == nil || i == 0 || i > uint64(len(*t)) {
		return nil
	}
	return (*t)[i-1]
}

// deregister returns when no peer is copying from or to the region.
func (r *regions) deregister(key uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fabric.ErrClosed
	}
	e := r.lookup(key)
	if e == nil || !e.guard.shut(uint32(key>>32)) {
		return &fabric.Error{Op: "deregister memory", Err: errNotRegistered}
	}
	e.bytes = nil
	r.free = append(r.free, uint32(key)-1)
	return nil
}

func (r *regions) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if t := r.table.Load(); t != nil {
		for _, e := range *t {
			e.guard.shut(e.generation)
			e.bytes = nil
		}
	}
}

// enter checks that m lies inside a registered region that permits a, and that
// it holds n bytes. If so it returns those bytes, which stay valid until the
// caller leaves the region's guard.
func (r *regions) enter(m fabric.Remote, n int, a fabric.Access) (*region, []byte) {
	e := r.lookup(m.Key)
	if e == nil || !e.guard.enter(uint32(m.Key>>32)) {
		return nil, nil
	}
	size := uint64(len(e.bytes))
	off := m.Addr - e.base // wraps to something large if Addr is below base
	if e.access&a != a || off > size || m.Len > size-off || uint64(n) > m.Len ||
		a == fabric.RemoteAtomic && m.Addr%8 != 0 {
		e.guard.leave()
		return nil, nil
	}
	return e, e.bytes[off : off+uint64(n) : off+uint64(n)]
}
