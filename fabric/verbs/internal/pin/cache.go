package pin

import (
	"errors"
	"runtime"
	"weak"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

var errNotRegistered = errors.New("the region is not registered, or not any more")

const (
	// cacheEntries and cacheBytes bound what is pinned and in nobody's use.
	cacheEntries = 1024
	cacheBytes   = 1 << 30
)

// cache keeps registrations of the Go heap by the address of the first byte.
//
// The collector may free a buffer and give its address to another, whose pages
// may be others than those the device has pinned; the cleanup that evicts the
// entry can come later than that. A hit therefore counts only while the entry's
// weak pointer equals one made from the buffer at hand: it differs once the
// first buffer is dead, whatever lies there now. Who uses the registration
// keeps the buffer alive.
//
// Memory elsewhere (mappings, C) can change hands without a sign, so it is not
// cached.
type cache struct {
	on      bool
	entries map[uint64]*cacheEntry
	bytes   int
	clock   uint64

	hits, misses, evictions uint64
}

type cacheEntry struct {
	index   uint32
	start   uint64
	n       int
	buffer  weak.Pointer[byte]
	cleanup runtime.Cleanup
	used    uint64
}

func (c *cache) init(on bool) {
	c.on, c.entries = on, map[uint64]*cacheEntry{}
}

// takes says whether such memory is kept: only where peers can at most read.
func (c *cache) takes(b []byte, a fabric.Access) bool {
	return c.on && a&(fabric.RemoteWrite|fabric.RemoteAtomic) == 0 && onHeap(ibv.Addr(b))
}

// find looks for a registration of b. It evicts one that b shows to be dead
// or too short.
func (c *cache) find(r *Regions, b []byte, a fabric.Access) (uint32, bool) {
	if !c.takes(b, a) {
		return 0, false
	}
	e := c.entries[ibv.Addr(b)]
	if e == nil {
		return 0, false
	}
	if e.buffer != weak.Make(&b[0]) || e.n < len(b) {
		c.evict(r, e)
		return 0, false
	}
	c.clock++
	c.hits++
	e.used = c.clock
	return e.index, true
}

// enter keeps the registration of b.
func (c *cache) enter(r *Regions, b []byte, i uint32) {
	c.clock++
	c.misses++
	e := &cacheEntry{index: i, start: ibv.Addr(b), n: len(b), buffer: weak.Make(&b[0]), used: c.clock}
	e.cleanup = runtime.AddCleanup(&b[0], r.collected, e)
	c.entries[e.start] = e
	c.bytes += e.n
}

// collected is called once the buffer of an entry is dead.
func (r *Regions) collected(e *cacheEntry) {
	r.mu.Lock()
	defer r.unlock()
	if !r.shut && r.cache.entries[e.start] == e {
		r.cache.evict(r, e)
	}
}

// evict forgets an entry. Who still holds its registration ends it.
func (c *cache) evict(r *Regions, e *cacheEntry) {
	delete(c.entries, e.start)
	c.evictions++
	c.bytes -= e.n
	e.cleanup.Stop()
	g := &r.all[e.index]
	g.cached = false
	if g.refs == 0 {
		g.mem = e.buffer.Value()
		r.drop(e.index)
	}
}

// makeRoom evicts what has been idle longest until n bytes more may be kept.
func (c *cache) makeRoom(r *Regions, n int) {
	for len(c.entries) >= cacheEntries || c.bytes+n > cacheBytes {
		var oldest *cacheEntry
		for _, e := range c.entries {
			if r.all[e.index].refs == 0 && (oldest == nil || e.used < oldest.used) {
				oldest = e
			}
		}
		if oldest == nil {
			return
		}
		c.evict(r, oldest)
	}
}

// empty evicts everything that is idle.
func (c *cache) empty(r *Regions) {
	for _, e := range c.entries {
		if r.all[e.index].refs == 0 {
			c.evict(r, e)
		}
	}
}

// stop ends the cleanups. What is still alive of the buffers stays so while the
// registrations end.
func (c *cache) stop(r *Regions) {
	for _, e := range c.entries {
		e.cleanup.Stop()
		r.all[e.index].mem = e.buffer.Value()
	}
	c.entries = nil
}
