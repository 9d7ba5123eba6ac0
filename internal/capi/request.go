package capi

import (
	"sync/atomic"

	"github.com/weft-mpi/weft/mpi"
)

// requestTable has the requests that C has handles of: generation<<32 | kind<<27 | slot.
// A request is put in when its operation starts, and out by the call that makes its handle
// null, so both take no lock.
type requestTable struct {
	chunks [1 << (requestBits - requestChunkBits)]atomic.Pointer[[1 << requestChunkBits]request]
	free   atomic.Uint64 // changes<<32 | the first free slot + 1
	next   atomic.Uint32 // the first slot that never was used
}

const (
	requestBits      = 24
	requestChunkBits = 12
)

type request struct {
	r          mpi.Request
	generation atomic.Uint32
	free       atomic.Uint32 // the next free slot + 1
}

func (t *requestTable) at(i uint32) *request {
	c := t.chunks[i>>requestChunkBits].Load()
	if c == nil {
		t.chunks[i>>requestChunkBits].CompareAndSwap(nil, new([1 << requestChunkBits]request))
		c = t.chunks[i>>requestChunkBits].Load()
	}
	return &c[i&(1<<requestChunkBits-1)]
}

// add returns a handle of the request, or requestNull if that is null. It fails with
// ErrOther if there are 16 million; the request is given up then.
func (t *requestTable) add(r mpi.Request) (word uint64, err error) {
	if r.Null() {
		return requestNull, nil
	}
	var i uint32
	for {
		top := t.free.Load()
		if uint32(top) == 0 {
			if i = t.next.Add(1) - 1; i >= 1<<requestBits {
				t.next.Store(1 << requestBits)
				_ = r.Free()
				return requestNull, fail(mpi.ErrOther, "%d requests have not been completed: complete some before others are started", 1<<requestBits)
			}
			break
		}
		i = uint32(top) - 1
		if t.free.CompareAndSwap(top, top>>32<<32+1<<32|uint64(t.at(i).free.Load())) {
			break
		}
	}
	e := t.at(i)
	e.r = r
	return uint64(e.generation.Add(1))<<32 | uint64(kindRequest)<<27 | uint64(i), nil
}

// get is the request of a handle; ok is false if that is stale or none. requestNull is the
// null request.
func (t *requestTable) get(word uint64) (r mpi.Request, ok bool) {
	if e := t.find(word); e != nil {
		return e.r, true
	}
	return r, word == requestNull
}

func (t *requestTable) find(word uint64) *request {
	i := uint32(word) & (1<<27 - 1)
	if uint32(word)>>27 != uint32(kindRequest) || i >= 1<<requestBits {
		return nil
	}
	c := t.chunks[i>>requestChunkBits].Load()
	if c == nil {
		return nil
	}
	if e := &c[i&(1<<requestChunkBits-1)]; e.generation.Load() == uint32(word>>32) {
		return e
	}
	return nil
}

// drop ends a handle. Of several calls for one the first does.
func (t *requestTable) drop(word uint64) {
	e := t.find(word)
	if e == nil || !e.generation.CompareAndSwap(uint32(word>>32), uint32(word>>32)+1) {
		return
	}
	i := uint32(word) & (1<<requestBits - 1)
	for {
		top := t.free.Load()
		e.free.Store(uint32(top))
		if t.free.CompareAndSwap(top, top>>32<<32+1<<32|uint64(i+1)) {
			return
		}
	}
}

// whole is the handle whose low half the program has kept as an integer.
func (t *requestTable) whole(low uint32) uint64 {
	if low < firstSlot {
		return uint64(low)
	}
	i := low & (1<<27 - 1)
	if low>>27 != uint32(kindRequest) || i >= 1<<requestBits || t.chunks[i>>requestChunkBits].Load() == nil {
		return 0
	}
	return uint64(t.at(i).generation.Load())<<32 | uint64(low)
}
