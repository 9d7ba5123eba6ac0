package rma

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
)

// Win is one rank's side of a window: the parts of memory that the ranks of a
// communicator have exposed. Its methods are for any goroutine, and several at once,
// unless they say otherwise. Ranges are not checked here: callers compare them with
// Size.
type Win struct {
	e     *Engine
	id    uint32
	ranks *group.Map // nil: those of the job
	rank  int        // of this rank in it

	mem     []byte // this rank's part
	lines   []byte // this rank's control block, see control.go
	slab    *slab  // where it lies
	block   int
	regions []held // registrations of both

	targets []target
	epochs  epochs
	barrier func(context.Context) error // of the ranks, for Fence and Free

	// What a call keeps for the one that ends its epoch.
	starting []int   // the group of Start
	posting  []int   // that of Post
	posts    signals // of the ranks whose parts this one may use
	ends     signals // of the ranks that have used this one's

	any    atomic.Bool // touched is not empty: as target.touched
	bereft atomic.Bool // a rank of the window is down: as target.dead
	looks  uint64      // flushes without anything to do, about; loaded and stored by look
	fences uint32      // see fence
	listed atomic.Bool // on the engine's list, see lock_call.go

	// The owner's.
	touched []*target // with operations that no flush has covered

	over bool

	origin    lockOrigin
	pending   []*pendingLock
	idle      *pendingLock // to be used again
	leaving   *lockOp      // the release under way
	port      *lockReach
	unchecked map[int]bool // targets locked with NoCheck, of which nobody else knows
	local     lockQueue    // of the lock of this rank's part
	global    lockQueue    // at rank 0, of that of all parts
	watched   [2]bool      // the local one's word, the global one's

	dynamic  bool
	attached []attached                // by address
	refused  map[fabric.Peer][2]uint64 // see refuse

	check *checker // of a window with separate memory, else nil
}

// held is a registration.
type held struct {
	dom    fabric.Domain
	region fabric.Region
}

// target is what a rank knows of one rank's part.
type target struct {
	w    *Win
	rank int         // in the window
	peer fabric.Peer // in the job
	size int         // bytes
	unit int         // displacement unit

	// dead is why the rank is down. Stored by the owner, loaded by calls.
	dead    atomic.Pointer[error]
	mem     []byte          // the part, if loads and stores reach it
	lines   []byte          // the control block, if they reach that
	signals signalBlock     // of it
	ep      fabric.Endpoint // to knock at, with lines

	memory, control fabric.Remote // as the peer's fabric names them
	*via

	// touched says that operations are not covered by a flush. Stored by the owner,
	// loaded by Flush: a call that has returned has stored it.
	touched atomic.Bool

	// The owner's.
	packets bool   // not even Put and Get work
	count   uint64 // operations so far
	native  bool   // there are Puts or Atomics since the last flush
	unacked bool   // there are packets without a reply since then
	open    opens  // operations that have not ended
	flushes opens  // and flushes
	kept    []kept
	err     error // the first failure since the last flush
}

// via is the fabric to a rank, none to this one itself. It does not change.
type via struct {
	dom  fabric.Domain
	caps fabric.Caps
}

// kept is memory that the fabric may read until the next flush.
type kept struct {
	b      []byte
	region fabric.Region
}

// PartSize is the length of a Part in bytes.
const PartSize = 64

// Part is what a rank tells another one of its part of a window.
type Part [PartSize]byte

// Prepare makes this rank's side of a window of the ranks of a communicator, without
// knowing the others: id is the communicator's. mem is its part, the window's until
// Free; unit is its displacement unit. From now on ranks that know of it already are
// served. For anyone. Local.
//
// With line the window has separate memory, and checks accesses: mem is the private copy.
// line returns the line of the program that has made the call under way, on the goroutine
// of that. All ranks give it, or none; else Join fails at all.
func (e *Engine) Prepare(id uint32, ranks *group.Map, rank, size int, mem []byte, unit int, line func() string) (w *Win, err error) {
	w = &Win{e: e, id: id, ranks: ranks, rank: rank, mem: mem, dynamic: mem == nil && unit == Dynamic, targets: make([]target, size)}
	for i := range w.targets {
		t := &w.targets[i]
		t.w, t.rank, t.peer, t.unit = w, i, fabric.Peer(w.world(i)), unit
	}
	// Ranks that have joined may ask for this one's locks, and any may die, before it
	// joins.
	w.origin.rank, w.global.global, w.unchecked = rank, true, map[int]bool{}
	if line != nil {
		w.check = newChecker(w, line)
		if mem != nil {
			w.mem = w.check.separate(0, mem)
			w.attached = []attached{{0, w.mem}} // this rank's operations look it up
		}
	}
	w.port = &lockReach{lockSender{w}, rank, make([]lockBlock, size)}
	e.loop.Exclusive(func() {
		if err = w.register(); err == nil {
			w.port.blocks[rank], w.posts.words = w.blocksOf(w.lines)
			w.posts.kind, w.ends.kind, w.ends.words = signalPost, signalEnd, w.posts.words
			e.wins[id] = w
		}
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Dynamic is the unit of dynamic windows, whose mem is nil.
const Dynamic = -1

// world is the rank in the job of a rank of the window.
func (w *Win) world(rank int) int {
	if w.ranks == nil {
		return rank
	}
	return w.ranks.World(rank)
}

// rankOf is the rank in the window of a rank of the job, or -1.
func (w *Win) rankOf(p fabric.Peer) int {
	if w.ranks != nil {
		return w.ranks.Rank(int(p))
	}
	if int(p) >= len(w.targets) {
		return -1
	}
	return int(p)
}

// register makes the control block, and both memories known to the fabrics of the
// other ranks. For the owner.
func (w *Win) register() error {
	for i := range w.targets {
		if t := &w.targets[i]; i == w.rank {
			t.via = w.e.to(nil)
		} else {
			t.via = w.e.to(w.e.loop.Via(t.peer))
		}
	}
	lines, err := w.e.control(w)
	if err != nil {
		return err
	}
	w.lines = lines
	for i := range w.targets {
		t := &w.targets[i]
		if i == w.rank || heldBy(w.regions, t.dom) != nil {
			continue
		}
		const all = fabric.LocalWrite | fabric.RemoteRead | fabric.RemoteWrite | fabric.RemoteAtomic
		region, err := fabric.Region{}, error(nil)
		if len(w.mem) > 0 && w.check == nil {
			if region, err = t.dom.Register(w.mem, all); err != nil {
				region = fabric.Region{} // then packets carry everything
			}
		}
		w.regions = append(w.regions, held{t.dom, region})
	}
	return nil
}

// separatePart is in the length of a part of a window with separate memory.
const separatePart = 1 << 63

// ErrModels is the error of a window with separate memory at some ranks.
var ErrModels = errors.New("some ranks give the window separate memory, and others do not: give all the same WinOptions, options of Init and WEFT_CHECK")

// Part is what rank has to know. Local.
func (w *Win) Part(rank int) (p Part) {
	t := &w.targets[rank]
	le := binary.LittleEndian
	n := uint64(len(w.mem))
	if w.check != nil {
		n |= separatePart
	}
	le.PutUint64(p[0:], n)
	le.PutUint64(p[8:], uint64(t.unit))
	if rank == w.rank {
		return p
	}
	h := heldBy(w.regions, t.dom)
	for i, r := range []fabric.Remote{h.region.Remote, w.controlOf(t.dom)} {
		le.PutUint64(p[16+24*i:], r.Addr)
		le.PutUint64(p[24+24*i:], r.Len)
		le.PutUint64(p[32+24*i:], r.Key)
	}
	return p
}

// Join takes the parts of all ranks, and how they wait for one another: the window can
// be used. Every rank has sent this one a message before, so their connections stand.
// Local.
func (w *Win) Join(parts []Part, barrier func(context.Context) error) error {
	w.barrier = barrier
	w.epochs.init(len(parts), w.rank)
	var err error
	w.e.loop.Exclusive(func() {
		for i := range parts {
			if e := w.targets[i].join(&parts[i]); e != nil && err == nil {
				err = fmt.Errorf("rank %d: %w", i, e)
			}
			if t := &w.targets[i]; t.lines != nil {
				w.port.blocks[i], t.signals = w.blocksOf(t.lines)
			}
		}
	})
	return err
}

func (t *target) join(p *Part) error {
	le, w := binary.LittleEndian, t.w
	n := le.Uint64(p[0:])
	t.size, t.unit = int(n&^separatePart), int(le.Uint64(p[8:]))
	if n&separatePart != 0 != (w.check != nil) {
		return ErrModels
	}
	if t.rank == w.rank {
		t.lines = w.lines
		switch {
		case w.dynamic || w.check != nil:
		case w.mem == nil:
			t.mem = w.lines[:0]
		default:
			t.mem = w.mem
		}
		return nil
	}
	var r [2]fabric.Remote
	for i := range r {
		r[i] = fabric.Remote{Addr: le.Uint64(p[16+24*i:]), Len: le.Uint64(p[24+24*i:]), Key: le.Uint64(p[32+24*i:])}
	}
	t.memory, t.control = r[0], r[1]
	t.packets = w.dynamic || w.check != nil || t.memory.Len < uint64(t.size) || !t.caps.Put || !t.caps.Get
	c := w.e.loop.Conn(t.peer)
	if err := c.Down(); err != nil {
		return err
	}
	if !t.caps.Reach {
		return nil
	}
	// Any refusal leaves operations to the fabric, which knows why.
	lines, err := c.Endpoint().Reach(t.control)
	if err != nil || len(lines) < controlSize(len(w.targets)) {
		return nil
	}
	t.lines, t.ep = lines, c.Endpoint()
	switch {
	case w.dynamic || w.check != nil:
	case t.size == 0:
		t.mem = lines[:0]
	default:
		if t.mem, err = c.Endpoint().Reach(t.memory); err != nil {
			t.mem = nil
		}
	}
	return nil
}

// Size is the length of a rank's part in bytes, and its displacement unit. Local.
func (w *Win) Size(rank int) (bytes, unit int) { return w.targets[rank].size, w.targets[rank].unit }

// Memory is this rank's part, for loads and stores.
func (w *Win) Memory() []byte {
	if w.check != nil && w.mem != nil {
		return w.check.copies[0].private
	}
	return w.mem
}

// Reached is a rank's part where loads and stores of this process reach it, else nil.
// It stays there until the World ends, also after Free. Local.
func (w *Win) Reached(rank int) []byte {
	if w.check != nil && rank == w.rank {
		return w.Memory()
	}
	return w.targets[rank].mem
}

// Discard ends this rank's side of a window that no rank uses. Local.
func (w *Win) Discard() { w.discard(true) }

// discard is Discard. Unless all ranks have ended it, its control block is not used
// again.
func (w *Win) discard(all bool) {
	w.e.loop.Exclusive(func() {
		if w.over {
			return
		}
		w.over = true
		delete(w.e.wins, w.id)
		w.unlist()
		for _, h := range w.regions {
			if h.region.Handle != 0 {
				h.dom.Deregister(h.region) // which can only fail for a region that is none
			}
		}
		if !all {
			w.declineAll()
			return
		}
		w.giveControl()
	})
}

// Over reports whether the window has ended. Local.
func (w *Win) Over() bool { return w.epochs.load()&freed != 0 }
