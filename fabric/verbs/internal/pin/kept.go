package pin

import "sync"

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

// KeepNone ends the registrations that the cache and the arena keep, each now or
// when nobody holds it any more, and those that come are kept no longer.
func (r *Regions) KeepNone() {
	r.mu.Lock()
	defer r.unlock()
	if r.shut || r.device == nil {
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

// unlock lets go of mu and then says what could not be ended, since the log's
// handler is the user's and may come back here.
func (r *Regions) unlock() {
	err := r.refused
	r.refused = nil
	r.mu.Unlock()
	if err != nil {
		r.log.Error("verbs: a registration can't be ended; its memory is not used again", "err", err)
	}
}
