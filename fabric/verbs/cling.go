package verbs

import (
	"errors"
	"sync"
)

// A device reaches memory of this rank over a queue pair, by a registration of
// the same protection domain. To end either is enough: what arrives on a queue
// pair that is destroyed is dropped, and so is the answer to what it had begun;
// what names a registration that has ended is refused. So where the device, or
// the kernel, refuses to destroy a queue pair, registrations end in its place;
// where it refuses to end a registration, the memory is given to nobody else.

// clungQP is a queue pair that the device would not destroy.
type clungQP struct {
	port int
	qp   qp
}

// destroyQP destroys a queue pair of a port, if there is one (id 0: none):
// afterwards the device uses no memory for it. Where the device refuses, no
// registration outlives its holder any more, so that memory is out of reach when
// the request that it was registered for has ended; Close tries again. For any
// goroutine.
func (d *Domain) destroyQP(port int, q qp) error {
	if q.id == 0 {
		return nil
	}
	err := d.nicAt(port).destroyQP(q)
	if err == nil {
		return nil
	}
	d.mu.Lock()
	d.clung = append(d.clung, clungQP{port, q})
	d.mu.Unlock()
	d.regions.keepNone()
	d.cfg.Log.Error("verbs: a queue pair can't be destroyed; registrations are kept for nobody from now on",
		"device", d.infoAt(port).device, "err", err)
	return err
}

// destroyClung tries once more.
func (d *Domain) destroyClung() (err error) {
	d.mu.Lock()
	clung := d.clung
	d.clung = nil
	d.mu.Unlock()
	for _, c := range clung {
		err = errors.Join(err, d.nicAt(c.port).destroyQP(c.qp))
	}
	return err
}

// keepNone ends the registrations that the cache and the arena keep, each now or
// when nobody holds it any more, and those that come are kept no longer.
func (r *regions) keepNone() {
	r.mu.Lock()
	defer r.unlock()
	if r.shut || r.nic == nil {
		return
	}
	r.cache.on = false
	for _, e := range r.cache.entries {
		r.cache.evict(r, e)
	}
	for start := range r.arena.known {
		r.forget(start)
	}
	r.arena.from = nil
}

// kept is memory that a device would not let go of: it stays reachable for as
// long as the process lives, so that the collector gives it to nobody.
var kept struct {
	sync.Mutex
	mem []*byte
}

// keep keeps the memory around a byte, nil if that is dead already: what lies
// there now peers could only read, and only those that break the protocol do.
func keep(mem *byte) {
	if mem == nil {
		return
	}
	kept.Lock()
	defer kept.Unlock()
	kept.mem = append(kept.mem, mem)
}

// unlock lets go of mu and then says what could not be ended, since the log's
// handler is the user's and may come back here.
func (r *regions) unlock() {
	err := r.clung
	r.clung = nil
	r.mu.Unlock()
	if err != nil {
		r.log.Error("verbs: a registration can't be ended; its memory is not used again", "err", err)
	}
}
