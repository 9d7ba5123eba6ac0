package pin

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// Device registers memory with an adapter. ibv.Context is one. Its methods are for
// any goroutine.
type Device interface {
	RegMR(addr uint64, n int, access uint32) (ibv.MR, error)
	DeregMR(ibv.MR) error
}

// Regions are the memory that a rank has registered. Its methods are for any
// goroutine, Local and Recent apart: the collector's cleanups evict, too. The zero
// value has none, and takes none before Open.
type Regions struct {
	mu      sync.Mutex
	log     *slog.Logger
	refused error // what drop could not end, for unlock
	device  Device
	sign    Signer
	all     []region
	free    []uint32
	cache   cache
	more    morePorts
	arena   arena
	shut    bool
	// ended counts the handles that nobody holds any more. Its add in Deregister
	// pairs with the load in knows.
	ended atomic.Uint64

	recent recent // the owner's
}

// recent is what Local has found last: most transfers are from or to the same
// memory as the one before.
type recent struct {
	handle, start, end uint64
	lkey               uint32
	ended              uint64 // Regions.ended then
}

// knows says whether a look-up of the handle would find the same.
func (c *recent) knows(handle uint64, r *Regions) bool {
	return c.handle == handle && c.ended == r.ended.Load()
}

// holds says whether n bytes from start on are in it.
func (c *recent) holds(start, n uint64) bool { return start >= c.start && start+n <= c.end }

// region is a registration. One of the cache stays when nobody holds it.
type region struct {
	mr         ibv.MR
	start, end uint64
	access     fabric.Access
	gen        uint32 // against handles of an earlier use of the entry
	refs       int
	cached     bool
	more       [MaxPorts - 1]ibv.MR // of the further ports
	mem        *byte                // where it begins, while somebody holds it
}

// Options say what Open serves.
type Options struct {
	Device Device
	More   []Device // further ports, MaxPorts-1 at most
	Table  []byte   // where peers read what these call a region; nil without More
	Sign   Signer   // of the keys that peers are given
	Cache  bool     // registrations of the Go heap are kept when nobody holds them
	Log    *slog.Logger
}

// Open makes the regions of a rank usable.
func (r *Regions) Open(o Options) {
	r.device, r.more, r.sign, r.log = o.Device, morePorts{o.More, o.Table}, o.Sign, o.Log
	r.cache.init(o.Cache)
}

// Register makes b known to the device. Memory of the Go heap that peers can
// at most read is looked for in the cache first, and a hit neither allocates
// nor blocks; else the kernel pins the pages.
//
// The caller keeps b alive until Deregister.
func (r *Regions) Register(b []byte, a fabric.Access) (fabric.Region, error) {
	if len(b) == 0 {
		return fabric.Region{}, nil
	}
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
		Remote: fabric.Remote{Addr: ibv.Addr(b), Len: uint64(len(b)), Key: r.sign.Key(e.mr.RKey, a)},
		Handle: uint64(e.gen)<<32 | uint64(i+1),
	}, nil
}

// add registers b.
func (r *Regions) add(b []byte, a fabric.Access) (uint32, error) {
	cached := r.cache.takes(b, a)
	if cached {
		a = fabric.LocalWrite | fabric.RemoteRead
		r.cache.makeRoom(r, len(b))
	}
	i, err := r.addRange(ibv.Addr(b), len(b), a)
	if err == nil && cached {
		r.all[i].cached = true
		r.cache.enter(r, b, i)
	}
	return i, err
}

// addRange registers n bytes at start.
func (r *Regions) addRange(start uint64, n int, a fabric.Access) (uint32, error) {
	access := uint32(0)
	if a&(fabric.LocalWrite|fabric.RemoteWrite|fabric.RemoteAtomic) != 0 {
		access |= ibv.LocalWrite // which the device wants with the other two
	}
	if a&fabric.RemoteRead != 0 {
		access |= ibv.RemoteRead
	}
	if a&fabric.RemoteWrite != 0 {
		access |= ibv.RemoteWrite
	}
	if a&fabric.RemoteAtomic != 0 {
		access |= ibv.RemoteAtomic
	}
	m, err := r.device.RegMR(start, n, access)
	if err != nil {
		r.cache.empty(r) // what it holds may be what is missing
		if m, err = r.device.RegMR(start, n, access); err != nil {
			return 0, Explain("one-sided operations", n, err)
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
func (r *Regions) at(handle uint64) (uint32, *region) {
	i := uint32(handle) - 1
	if uint32(handle) == 0 || int(i) >= len(r.all) {
		return 0, nil
	}
	if e := &r.all[i]; e.gen == uint32(handle>>32) && e.refs > 0 {
		return i, e
	}
	return 0, nil
}

// Deregister ends a registration. When it returns peers can't write to the
// memory any more; memory that they could only read may stay in the cache, and
// that of an arena stays registered until it is freed. Where the device refuses,
// the memory stays out of use.
func (r *Regions) Deregister(g fabric.Region) error {
	if g.Handle == 0 {
		return nil
	}
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
func (r *Regions) drop(i uint32) error {
	e := &r.all[i]
	err := r.more.deregister(e)
	if derr := r.device.DeregMR(e.mr); derr != nil {
		err = derr
	}
	if err != nil {
		keep(e.mem)
		r.refused = errors.Join(r.refused, err)
	}
	*e = region{gen: e.gen}
	r.free = append(r.free, i)
	return err
}

// Local is the key by which the device reaches a segment of our own, false where
// its region does not hold it. For the owner.
func (r *Regions) Local(s fabric.Segment) (lkey uint32, ok bool) {
	n := uint64(len(s.Bytes))
	if n == 0 {
		return 0, true
	}
	c := &r.recent
	if !c.knows(s.Region.Handle, r) {
		r.mu.Lock()
		_, e := r.at(s.Region.Handle)
		if e == nil {
			r.mu.Unlock()
			return 0, false
		}
		*c = recent{handle: s.Region.Handle, start: e.start, end: e.end, lkey: e.mr.LKey, ended: r.ended.Load()}
		r.mu.Unlock()
	}
	return c.lkey, c.holds(ibv.Addr(s.Bytes), n)
}

// Recent is Local of a segment that is not empty and in the region which Local has
// found last. It answers false for any other. For the owner.
func (r *Regions) Recent(s *fabric.Segment) (lkey uint32, ok bool) {
	c := &r.recent
	return c.lkey, c.knows(s.Region.Handle, r) && c.holds(ibv.Addr(s.Bytes), uint64(len(s.Bytes)))
}

// LocalAt is Local on a further port, 1 the first of these. For any goroutine.
func (r *Regions) LocalAt(s fabric.Segment, port int) (lkey uint32, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, e := r.at(s.Region.Handle)
	if e == nil || e.more[port-1].Handle == 0 {
		return 0, false
	}
	return e.more[port-1].LKey, true
}

// Close takes everything from the device. Nothing uses the regions by then, but
// cleanups of the collector.
func (r *Regions) Close() (err error) {
	r.mu.Lock()
	defer r.unlock()
	if r.device == nil {
		return nil
	}
	r.shut = true
	r.cache.stop(r)
	if r.arena.cancel != nil {
		r.arena.cancel() // the hook takes no lock of ours amid it
	}
	for i := range r.all {
		if r.all[i].mr.Handle != 0 {
			err = errors.Join(err, r.drop(uint32(i)))
		}
	}
	r.all = nil
	return err
}
