package progress

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/group"
)

// Request is an operation in flight. Its fields belong to the owner of the loop
// from its start until it is freed, and before the start to the goroutine that
// took it. The exported fields are the sink's; each has the one meaning its
// comment gives. The sink leaves the others to the loop.
type Request struct {
	// Every short message touches two cache lines, which come first.
	Buf    []byte // the user's buffer, reachable from here until the request completes
	Imm    uint64 // context and tag: those asked for, and those of a receive's message once it has one
	Peer   int32  // the other rank, or AnySource until a receive has its message
	Kind   uint8  // what kind of operation
	Step   uint8  // how far it is
	done   bool
	timed  bool // the time that it takes is measured, see timed.go
	id     uint32
	gen    uint32
	sink   Sink
	waiter *Waiter
	err    error

	Result  Result   // what was received
	Entry   uint64   // its entry in the matching table while it is there
	Link    *Request // the next of a list; of the free list before, and not cleared
	Mode    uint8    // of a send: when it completes
	resting bool     // persistent, and not started
	special bool     // persistent, generalized, shaped or counted: there is more to check
	shaped  bool     // has ranks or a layout
	Began   uint32   // when, in seconds of coarseclock.Now

	Place [3]uintptr    // return addresses above the call that made it
	Until expiry.Expiry // ends the wait
	Moved uint64        // bytes of the message that have been sent or received in pieces
	loop  *Loop

	Back    *Request // the previous request of a list
	Pair    *Request // of a half: the request of both
	queued  *packet  // its entry in its peer's backlog, or nil
	saved   *saved   // what a persistent request starts with again
	general *General // of a generalized request whose operation is under way
	watched Watched  // of a request that waits for a condition
	node    node

	// A rendezvous.
	Outcome  uint8         // the receiver's verdict on the message
	Path     uint8         // of a send: the path of its message
	counted  uint8         // see Count
	released bool          // given up: freed as it completes, also where it is persistent
	Other    uint64        // the peer's request
	Length   uint64        // of a receive: bytes of its message, as announced
	Limit    uint64        // of a send: bytes of the message that its receiver has room for
	Remote   fabric.Remote // the peer's memory that is read from or written to
	Region   fabric.Region // the registration of Buf

	start int64 // when it was taken, by timeline.Now, if it is timed
	// Found is the name of the message that a probe has taken, for its receive; of the copy
	// of a buffered send it is the number in the attached memory.
	Found  uint64
	Halves [2]*Request // of a send and receive in one: the receive, the send, each until it has completed

	ranks  *group.Map // of its communicator; nil: those of the job
	lay    Layout     // its memory, if that is not Buf
	packed uint64     // bytes of lay

	object atomic.Pointer[object] // see Handle.Object. With it requests begin on cache lines
}

// Result is the part of a Status that the path of a message carries: two words,
// which stay in registers.
type Result struct {
	Source, Tag int32
	Bytes       uint64
}

// Status is the result in the form that users see.
func (r Result) Status() Status {
	return Status{Source: int(r.Source), Tag: int(r.Tag), Bytes: r.Bytes}
}

// Status is the outcome of a request: for a receive the source, tag and length
// of its message.
type Status struct {
	Source int
	Tag    int
	Bytes  uint64 // length of the message as sent, also where the buffer was shorter
	Err    error  // of this request, where a call completes several

	Cancelled bool // the operation was cancelled before anything of it happened
}

// AnySource and AnyTag are the wildcards as package match has them.
const (
	AnySource = -1
	AnyTag    = -2
)

// Empty is the status of null requests: any source, any tag, nothing received
// (MPI-4.0 §3.7.3).
var Empty = Status{Source: AnySource, Tag: AnyTag}

// nothing is the result with that status.
var nothing = Result{Source: AnySource, Tag: AnyTag}

// Op names the request to a fabric and to peers. A persistent request has
// another name for each start: replies to an earlier start may still be on their
// way.
func (r *Request) Op() fabric.Op { return fabric.Op(uint64(r.turn())<<32 | uint64(r.id)) }

// turn tells successive uses of a slot apart.
func (r *Request) turn() uint32 {
	if r.Persistent() {
		return (r.gen + r.saved.starts) & lastGen
	}
	return r.gen
}

// lastGen is the last generation of a slot: an Op has bits left.
const lastGen = 1<<30 - 1

// Of reports whether the request is a sink's. No sink reads Kind, Step or other
// sink fields of another sink's request.
func (r *Request) Of(s Sink) bool { return r.sink == s }

// SetRanks sets how the request's communicator numbers its ranks. Peer is a rank
// of the job all the same.
func (r *Request) SetRanks(m *group.Map) {
	if r.ranks = m; m != nil {
		r.special, r.shaped = true, true
	}
}

// Ranks returns the numbering for results: nil for the job's.
func (r *Request) Ranks() *group.Map {
	if !r.shaped {
		return nil
	}
	return r.ranks
}

// Persistent reports whether the request is persistent.
func (r *Request) Persistent() bool { return r.special && r.saved != nil }

// Index names the request while it is in flight.
func (r *Request) Index() uint32 { return r.id }

// live reports whether the request is in flight.
func (r *Request) live() bool { return r.sink != nil && !r.done && !r.resting }

// Done reports whether the request has completed.
func (r *Request) Done() bool { return r.done }

const chunkSize = 64

// requests is the slab of a loop's requests. They are allocated in chunks, never
// given back, and found by index. Of its two free lists the owner uses one
// without atomics; the shared one is for goroutines that start an operation
// while another owns the loop.
type requests struct {
	own    *Request
	nOwn   int
	always uint32 // bits of a turn that do not count for whether it is timed, see timed.go

	// shared is a stack of indices: index plus one in the lower half, and a
	// count in the upper half, so that a top that was popped and pushed again
	// differs.
	shared atomic.Uint64
	grow   sync.Mutex // guards growth only
	chunks atomic.Pointer[[]*chunk]
}

// chunk is some requests, with what links those of the shared list.
type chunk struct {
	requests [chunkSize]Request
	links    [chunkSize]atomic.Uint32
}

const maxOwn = 4 * chunkSize

func (s *requests) all() []*chunk {
	if p := s.chunks.Load(); p != nil {
		return *p
	}
	return nil
}

func (s *requests) at(id uint32) *Request {
	return &(*s.chunks.Load())[id/chunkSize].requests[id%chunkSize]
}

// link is what follows a request in the shared list.
func (s *requests) link(id uint32) *atomic.Uint32 {
	return &(*s.chunks.Load())[id/chunkSize].links[id%chunkSize]
}

// lookup returns the request in flight that a peer or a fabric names, or nil.
func (s *requests) lookup(op uint64) *Request {
	id := uint32(op)
	if int(id/chunkSize) >= len(s.all()) {
		return nil
	}
	if r := s.at(id); r.turn() == uint32(op>>32) && r.live() {
		return r
	}
	return nil
}

// takeShared is for anyone.
func (s *requests) takeShared(l *Loop) *Request {
	for {
		top := s.shared.Load()
		if uint32(top) == 0 {
			s.more(l)
			continue
		}
		id := uint32(top) - 1
		// The link may be stale if another goroutine took the top: then the
		// count differs and the swap fails.
		next := s.link(id).Load()
		if s.shared.CompareAndSwap(top, (top>>32+1)<<32|uint64(next)) {
			r := s.at(id)
			if r.timed {
				r.time()
			}
			return r
		}
	}
}

// free is for the owner.
func (s *requests) free(r *Request) {
	uses := uint32(1)
	r.sink, r.Buf, r.err = nil, nil, nil
	if !r.Until.Never() {
		r.Until = expiry.Expiry{}
	}
	r.done = false
	if r.special {
		if as := r.counted; as != 0 {
			r.counted = 0
			r.loop.counting(r, as)
		}
		if r.saved != nil {
			uses += r.saved.starts
			r.object.Store(nil)
			if r.saved.freed != nil {
				r.saved.freed()
			}
		}
		r.saved, r.general, r.special, r.resting, r.released = nil, nil, false, false, false
		if r.shaped {
			r.unshape()
		}
	}
	if r.gen = (r.gen + uses) & lastGen; r.gen&(timedEvery-1)&^s.always == 0 {
		s.turnOver(r)
		return
	}
	if s.nOwn < maxOwn {
		r.Link, s.own = s.own, r
		s.nOwn++
		return
	}
	s.share(r.id)
}

// turnOver is the end of free for one generation in timedEvery, whose next turn is
// timed. It goes to the shared list, so that the owner's way to a request has
// nothing to check: takeShared begins the measurement.
//
//go:noinline
func (s *requests) turnOver(r *Request) {
	r.timed = r.gen != instant
	r.gen = max(r.gen, instant+1)
	s.share(r.id)
}

func (s *requests) share(id uint32) {
	link := s.link(id)
	for {
		top := s.shared.Load()
		link.Store(uint32(top))
		if s.shared.CompareAndSwap(top, (top>>32+1)<<32|uint64(id+1)) {
			return
		}
	}
}

// more adds a chunk, all of it shared.
func (s *requests) more(l *Loop) {
	s.grow.Lock()
	defer s.grow.Unlock()
	if uint32(s.shared.Load()) != 0 {
		return
	}
	c, chunks := new(chunk), s.all()
	first := uint32(len(chunks) * chunkSize)
	for i := range c.requests {
		r := &c.requests[i]
		r.id, r.gen, r.loop = first+uint32(i), uint32(1+i*timedEvery/chunkSize), l // so not all are timed in one round
		r.node.r = r
		r.timed = s.always != 0
	}
	chunks = append(slices.Clip(chunks), c)
	s.chunks.Store(&chunks)
	for i := range c.requests {
		s.share(first + uint32(i))
	}
}

// each visits the requests in flight.
func (s *requests) each(f func(*Request)) { s.visit((*Request).live, f) }

// visit visits the requests of which is is true.
func (s *requests) visit(is func(*Request) bool, f func(*Request)) {
	for _, c := range s.all() {
		for i := range c.requests {
			if r := &c.requests[i]; is(r) {
				f(r)
			}
		}
	}
}
