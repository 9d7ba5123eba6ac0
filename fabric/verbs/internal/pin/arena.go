package pin

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// Arena is what verbs.Arena says.
type Arena interface {
	Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool)
	OnFree(f func(start uintptr)) (cancel func())
}

// arena are the registrations of allocations, by their first byte.
type arena struct {
	from   Arena // nil if there is none
	cancel func()
	access fabric.Access
	known  map[uint64]allocated
}

type allocated struct {
	index  uint32
	serial uint64
}

// UseArena registers what is of an arena by whole allocations, for everything
// that the device can do.
func (r *Regions) UseArena(from Arena, atomics bool) {
	cancel := from.OnFree(r.freed)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arena = arena{from, cancel, fabric.LocalWrite | fabric.RemoteRead | fabric.RemoteWrite, map[uint64]allocated{}}
	if atomics {
		r.arena.access |= fabric.RemoteAtomic
	}
}

// inArena finds the registration of an allocation that b is part of, or makes
// it.
func (r *Regions) inArena(b []byte, a fabric.Access) (uint32, bool) {
	m := &r.arena
	if m.from == nil || a&^m.access != 0 {
		return 0, false
	}
	addr := ibv.Addr(b)
	start, size, serial, ok := m.from.Allocation(uintptr(addr))
	if !ok || addr+uint64(len(b)) > uint64(start+size) {
		return 0, false
	}
	if e, ok := m.known[uint64(start)]; ok {
		if e.serial == serial {
			return e.index, true
		}
		r.forget(uint64(start))
	}
	i, err := r.addRange(uint64(start), int(size), m.access)
	if err != nil {
		return 0, false // as other memory
	}
	r.all[i].cached = true
	m.known[uint64(start)] = allocated{i, serial}
	return i, true
}

// forget ends the registration of an allocation, now or when nobody holds it.
func (r *Regions) forget(start uint64) {
	e, ok := r.arena.known[start]
	if !ok {
		return
	}
	delete(r.arena.known, start)
	g := &r.all[e.index]
	g.cached = false
	if g.refs == 0 {
		r.drop(e.index)
	}
}

// freed is called before an allocation is given back.
func (r *Regions) freed(start uintptr) {
	r.mu.Lock()
	defer r.unlock()
	if !r.shut {
		r.forget(uint64(start))
	}
}
