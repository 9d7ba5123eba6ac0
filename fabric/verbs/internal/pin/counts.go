package pin

// Counts are what Regions have counted.
type Counts struct {
	Bytes                   uint64 // registered now
	Hits, Misses, Evictions uint64 // of the cache
}

// Counts returns them.
func (r *Regions) Counts() (c Counts) {
	r.mu.Lock()
	defer r.unlock()
	for i := range r.all {
		c.Bytes += r.all[i].end - r.all[i].start
	}
	c.Hits, c.Misses, c.Evictions = r.cache.hits, r.cache.misses, r.cache.evictions
	return c
}
