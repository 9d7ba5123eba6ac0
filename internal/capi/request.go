package capi

import (
	"math"
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/membar"
	"github.com/weft-mpi/weft/mpi"
)

// requestTable has the requests that C has handles of: generation<<32 | kind<<27 | slot.
// A request is put in when its operation starts, and out by the call that makes its handle
// null, so both take no lock.
type requestTable struct {
	// alone says that the program has one thread, as MPI_Init and MPI_THREAD_SINGLE promise:
	// then nothing is compared and swapped.
	alone  bool
	first  [1 << requestChunkBits]request // most programs have no more
	chunks [1 << (requestBits - requestChunkBits)]atomic.Pointer[[1 << requestChunkBits]request]
	free   uint64        // changes<<32 | the first free slot + 1; as atomic.Uint64
	next   atomic.Uint32 // the first slot that never was used
}

const (
	requestBits      = 24
	requestChunkBits = 12
)

type request struct {
	r     mpi.Request
	state uint64 // as atomic.Uint64: generation<<32 | the next free slot + 1; the generation is odd while there is a request
	marks atomic.Uint32
}

// requestDone is the handle of all operations that have completed in their own call. They
// need no entry in the table: no call has more to find out of one. C knows the number too.
const requestDone = 1<<32 | uint64(kindRequest)<<27 | (1<<27 - 1)

// What is known of a request besides.
const (
	general   = 1 << iota // it is one of MPI_Grequest_start
	completed             // MPI_Grequest_complete has been called
	givenUp               // MPI_Request_free has been called
)

// at is the entry with that number.
func (t *requestTable) at(i uint32) *request {
	if i < uint32(len(t.first)) {
		return &t.first[i]
	}
	return t.further(i)
}

func (t *requestTable) further(i uint32) *request {
	c := &t.chunks[i>>requestChunkBits]
	if c.Load() == nil {
		c.CompareAndSwap(nil, new([1 << requestChunkBits]request))
	}
	return &c.Load()[i&(1<<requestChunkBits-1)]
}

// add returns a handle of the request: requestNull if that is null, requestDone if it has
// completed. It fails with ErrOther if there are 16 million; the request is given up then.
func (t *requestTable) add(r mpi.Request) (word uint64, err error) {
	switch {
	case r.Null():
		return requestNull, nil
	case r.Instant():
		return requestDone, nil
	}
	if word = t.reserve(); word == 0 {
		extra := r
		_ = extra.Free()
		return requestNull, fail(mpi.ErrOther, "%d requests have not been completed: complete some before others are started", 1<<requestBits)
	}
	t.fill(word, r)
	return word, nil
}

// reserve returns a handle that no call knows yet, or 0 if there are none left.
func (t *requestTable) reserve() (word uint64) {
	i, ok := t.pop()
	if !ok {
		return 0
	}
	return (atomic.LoadUint64(&t.at(i).state)>>32+1)<<32 | uint64(kindRequest)<<27 | uint64(i)
}

// fill makes a reserved handle that of the request.
func (t *requestTable) fill(word uint64, r mpi.Request) {
	e := t.at(uint32(word) - uint32(kindRequest)<<27)
	e.r = r
	if e.marks.Load() != 0 {
		e.marks.Store(0)
	}
	membar.StoreRelease(&e.state, word>>32<<32)
}

// pop takes a slot, or reports that there is none.
func (t *requestTable) pop() (i uint32, ok bool) {
	for {
		top := atomic.LoadUint64(&t.free)
		if uint32(top) == 0 {
			if i = t.next.Add(1) - 1; i >= 1<<requestBits {
				t.next.Store(1 << requestBits)
				return 0, false
			}
			return i, true
		}
		i = uint32(top) - 1
		next := atomic.LoadUint64(&t.at(i).state) & math.MaxUint32
		if t.alone {
			membar.StoreRelease(&t.free, next)
			return i, true
		}
		if atomic.CompareAndSwapUint64(&t.free, top, top>>32<<32+1<<32|next) {
			return i, true
		}
	}
}

// get is the request of a handle; ok is false if that is stale or none. For requestNull and
// requestDone it is the null request.
func (t *requestTable) get(word uint64) (r mpi.Request, ok bool) {
	if e := t.find(word); e != nil {
		return e.r, true
	}
	return r, word == requestNull || word == requestDone
}

// used is how many entries ever were.
func (t *requestTable) used() uint32 { return min(t.next.Load(), 1<<requestBits) }

func (e *request) generation() uint32 { return uint32(atomic.LoadUint64(&e.state) >> 32) }

// find is the entry of a handle, or nil if that is stale or none. A program whose other
// thread ends the handle meanwhile, which it must not, may get the next operation's.
func (t *requestTable) find(word uint64) *request {
	i := uint32(word) - uint32(kindRequest)<<27
	if i >= t.used() || word>>32&1 == 0 {
		return nil
	}
	if e := t.at(i); e.generation() == uint32(word>>32) {
		return e
	}
	return nil
}

// drop ends a handle. Of several calls for one the first does.
func (t *requestTable) drop(word uint64) {
	if e := t.find(word); e != nil {
		t.release(e, word)
	}
}

// release is drop for an entry that was the handle's.
func (t *requestTable) release(e *request, word uint64) {
	i, was, top := uint32(word)&(1<<requestBits-1), atomic.LoadUint64(&e.state), atomic.LoadUint64(&t.free)
	if was>>32 != word>>32 {
		return
	}
	if t.alone {
		membar.StoreRelease(&e.state, (was>>32+1)<<32|top&math.MaxUint32)
		membar.StoreRelease(&t.free, uint64(i+1))
		return
	}
	if !atomic.CompareAndSwapUint64(&e.state, was, (was>>32+1)<<32|top&math.MaxUint32) {
		return
	}
	for !atomic.CompareAndSwapUint64(&t.free, top, top>>32<<32+1<<32|uint64(i+1)) {
		top = atomic.LoadUint64(&t.free)
		atomic.StoreUint64(&e.state, (was>>32+1)<<32|top&math.MaxUint32)
	}
}

// mark notes something of a request, and returns what had been noted before.
func (t *requestTable) mark(word uint64, what uint32) (before uint32) {
	if e := t.find(word); e != nil {
		return e.marks.Or(what)
	}
	return 0
}

// whole is the handle whose low half the program has kept as an integer, or 0 if there is
// none.
func (t *requestTable) whole(low uint32) uint64 {
	if low < firstSlot {
		return uint64(low)
	}
	if low == uint32(requestDone&math.MaxUint32) {
		return requestDone
	}
	i := low - uint32(kindRequest)<<27
	if i >= t.used() {
		return 0
	}
	return uint64(t.at(i).generation())<<32 | uint64(low)
}

// WholeRequest is the handle of a request whose low half the program has kept as an integer
// (MPI_Request_toint), or 0 if there is none.
func WholeRequest(low uint32) uint64 {
	StartLate()
	return requests.whole(low)
}

// request is the request that argument i points to.
func (a *Args) request(i int) (mpi.Request, error) {
	p := a.handleAt(i)
	if p == nil {
		return mpi.Request{}, errNull
	}
	return requestOf(*p)
}

// requestOf is the request of a handle.
func requestOf(word uint64) (mpi.Request, error) {
	r, ok := requests.get(word)
	if !ok {
		return mpi.Request{}, errRequest
	}
	return r, nil
}

// setRequest gives a started operation a handle, which argument i points to. err is that of
// the start.
func (a *Args) setRequest(i int, r mpi.Request, err error) error {
	p := a.handleAt(i)
	if err != nil {
		return err
	}
	*p, err = requests.add(r)
	return err
}

// ended sets the handle that argument i points to to null, if a call has left r null of its
// request.
func (a *Args) ended(i int, r mpi.Request) {
	if p := a.handleAt(i); *p != requestNull && r.Null() {
		requests.drop(*p)
		*p = requestNull
	}
}
