package verbs

import (
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// regions are the memory that this rank has registered. Its methods are for
// any goroutine: the collector's evict, too.
type regions struct {
	mu    sync.Mutex
	log   *slog.Logger
	clung error // what drop could not end, for unlock
	nic   nic
	token tagKey
	all   []region
	free  []uint32
	cache cache
	more  moreNICs
	arena arena
	shut  bool
	ended atomic.Uint64 // handles that nobody holds any more
}

// recent is what local has found last: most transfers are from or to the same
// memory as the one before.
type recent struct {
	handle, start, end uint64
	lkey               uint32
	ended              uint64 // regions.ended then
}

// knows says whether a look-up of the handle would find the same.
func (c *recent) knows(handle uint64, r *regions) bool {
	return c.handle == handle && c.ended == r.ended.Load()
}

// holds says whether n bytes from start on are in it.
func (c *recent) holds(start, n uint64) bool { return start >= c.start && start+n <= c.end }

// region is a registration. One of the cache stays when nobody holds it.
type region struct {
	mr         mr
	start, end uint64
	access     fabric.Access
	gen        uint32 // against handles of an earlier use of the entry
	refs       int
	cached     bool
	more       [maxPorts - 1]mr // of the further ports
	mem        *byte            // where it begins, while somebody holds it
}

func (r *regions) open(n nic, log *slog.Logger) {
	r.nic, r.log = n, log
	r.cache.init(os.Getenv(envCache) != "0")
}

// Register makes b known to the device. Memory of the Go heap that peers can
// at most read is looked for in the cache first, and a hit neither allocates
// nor blocks; else the kernel pins the pages.
func (d *Domain) Register(b []byte, a fabric.Access) (fabric.Region, error) {
	if d.closed.Load() {
		return fabric.Region{}, fabric.ErrClosed
	}
	if len(b) == 0 {
		return fabric.Region{}, nil
	}
	r := &d.regions
	r.mu.Lock()
	defer r.unlock()
	if r.shut {
		return fabric.Region{}, fabric.ErrClosed
	}
	i, ok := r.inArena(b, a)
	if !ok {
		i, ok = r.cache.find(r, b, a)
	}
	if !ok {
		var err error
		if i, err = r.add(b, a); err != nil {
			return fabric.Region{}, err
		}
	}
	e := &r.all[i]
	e.refs++
	e.mem = &b[0]
	return fabric.Region{
		Remote: fabric.Remote{Addr: addressOf(b), Len: uint64(len(b)), Key: r.token.key(e.mr.rkey, a)},
		Handle: uint64(e.gen)<<32 | uint64(i+1),
	}, nil
}

// add registers b.
func (r *regions) add(b []byte, a fabric.Access) (uint32, error) {
	cached := r.cache.takes(b, a)
	if cached {
		a = fabric.LocalWrite | fabric.RemoteRead
		r.cache.makeRoom(r, len(b))
	}
	i, err := r.addRange(addressOf(b), len(b), a)
	if err == nil && cached {
		r.all[i].cached = true
		r.cache.enter(r, b, i)
	}
	return i, err
}

// addRange registers n bytes at start.
func (r *regions) addRange(start uint64, n int, a fabric.Access) (uint32, error) {
	access := uint32(0)
	if a&(fabric.LocalWrite|fabric.RemoteWrite|fabric.RemoteAtomic) != 0 {
		access |= accessLocalWrite // which the device wants with the other two
	}
	if a&fabric.RemoteRead != 0 {
		access |= accessRemoteRead
	}
	if a&fabric.RemoteWrite != 0 {
		access |= accessRemoteWrite
	}
	if a&fabric.RemoteAtomic != 0 {
		access |= accessRemoteAtomic
	}
	m, err := r.nic.register(start, n, access)
	if err != nil {
		r.cache.empty(r) // what it holds may be what is missing
		if m, err = r.nic.register(start, n, access); err != nil {
			return 0, pinError("one-sided operations", n, err)
		}
	}
	i := uint32(len(r.all))
	if n := len(r.free); n > 0 {
		i, r.free = r.free[n-1], r.free[:n-1]
	} else {
		r.all = append(r.all, region{})
	}
	r.all[i] = region{mr: m, start: start, end: start + uint64(n), access: a, gen: r.all[i].gen + 1}
	r.more.register(&r.all[i], n, access)
	return i, nil
}

// at finds the region of a handle, nil if nobody holds it.
func (r *regions) at(handle uint64) (uint32, *region) {
	i := uint32(handle) - 1
	if uint32(handle) == 0 || int(i) >= len(r.all) {
		return 0, nil
	}
	if e := &r.all[i]; e.gen == uint32(handle>>32) && e.refs > 0 {
		return i, e
	}
	return 0, nil
}

// Mapped is false: a device stands between the ranks.
func (d *Domain) Mapped([]byte) bool { return false }

// Deregister ends a registration. When it returns peers can't write to the
// memory any more; memory that they could only read may stay in the cache, and
// that of an arena stays registered until it is freed. Where the device refuses,
// the memory stays out of use, see cling.go.
func (d *Domain) Deregister(g fabric.Region) error {
	if g.Handle == 0 {
		return nil
	}
	r := &d.regions
	r.mu.Lock()
	defer r.unlock()
	if r.shut {
		return fabric.ErrClosed
	}
	i, e := r.at(g.Handle)
	if e == nil {
		return &fabric.Error{Op: "deregister", Err: errNotRegistered}
	}
	if e.refs--; e.refs > 0 {
		return nil
	}
	r.ended.Add(1)
	if e.cached {
		e.mem = nil
		return nil
	}
	return r.drop(i)
}

// drop takes a region that nobody holds from the device.
func (r *regions) drop(i uint32) error {
	e := &r.all[i]
	err := r.more.deregister(e)
	if derr := r.nic.deregister(e.mr); derr != nil {
		err = derr
	}
	if err != nil {
		keep(e.mem)
		r.clung = errors.Join(r.clung, err)
	}
	*e = region{gen: e.gen}
	r.free = append(r.free, i)
	return err
}

// local is the key by which the device reaches a segment of our own. For the
// owner.
func (d *Domain) local(s fabric.Segment) (lkey uint32, ok bool) {
	n := uint64(len(s.Bytes))
	if n == 0 {
		return 0, true
	}
	r, c, start := &d.regions, &d.recent, addressOf(s.Bytes)
	if !c.knows(s.Region.Handle, r) {
		r.mu.Lock()
		_, e := r.at(s.Region.Handle)
		if e == nil {
			r.mu.Unlock()
			return 0, false
		}
		*c = recent{handle: s.Region.Handle, start: e.start, end: e.end, lkey: e.mr.lkey, ended: r.ended.Load()}
		r.mu.Unlock()
	}
	return c.lkey, c.holds(start, n)
}

// localAt is the same on a further port.
func (r *regions) localAt(s fabric.Segment, port int) (lkey uint32, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, e := r.at(s.Region.Handle)
	if e == nil || e.more[port-1].id == 0 {
		return 0, false
	}
	return e.more[port-1].lkey, true
}

// close takes everything from the device.
func (r *regions) close() (err error) {
	r.mu.Lock()
	defer r.unlock()
	if r.nic == nil {
		return nil
	}
	r.shut = true
	r.cache.stop(r)
	if r.arena.cancel != nil {
		r.arena.cancel() // the hook takes no lock of ours amid it
	}
	for i := range r.all {
		if r.all[i].mr.id != 0 {
			err = errors.Join(err, r.drop(uint32(i)))
		}
	}
	r.all = nil
	return err
}
