package verbs

import "github.com/weft-mpi/weft/fabric"

// Arena is memory of the process that is registered once, each allocation when
// it is first used and until it is freed: that of mpi.Alloc. Its methods are
// called from any goroutine.
type Arena interface {
	// Allocation finds the allocation that addr lies in. No two have the same
	// serial.
	Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool)
	// OnFree has f called before an allocation is given back, until cancel is.
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

// useArena registers what is of an arena by whole allocations, for everything
// that the device can do.
func (r *regions) useArena(from Arena, atomics bool) {
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
func (r *regions) inArena(b []byte, a fabric.Access) (uint32, bool) {
	m := &r.arena
	if m.from == nil || a&^m.access != 0 {
		return 0, false
	}
	addr := addressOf(b)
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
func (r *regions) forget(start uint64) {
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
func (r *regions) freed(start uintptr) {
	r.mu.Lock()
	defer r.unlock()
	if !r.shut {
		r.forget(uint64(start))
	}
}
