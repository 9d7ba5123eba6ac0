package capi

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weft-mpi/weft/mpi"
)

// lateReceives is struct weft_late of weft.h: receives that C has written down and Go has
// not started yet.
type lateReceives struct {
	asked      atomic.Uint32 // so many, by C
	free       atomic.Uint32 // asked may go so far
	unexpected atomic.Uint32 // messages that no receive has matched
	limit      atomic.Uint32 // what is put off has fewer bytes; 0: nothing is
	receives   [mostLate]lateReceive
}

type lateReceive struct {
	buf, comm          uint64
	request            uint64 // its handle, which no operation has yet
	bytes, source, tag int32
	_                  int32
}

const (
	mostLate  = 64
	lateLimit = 4096 // a longer message is not worth it
)

// late is what there is of them.
var late struct {
	mu      sync.Mutex // guards what follows
	started uint32     // as asked
	*lateReceives
}

// putOff says whether receives may be put off: not if several threads may make calls.
func putOff(may bool) {
	late.limit.Store(0)
	if may {
		late.limit.Store(lateLimit)
	}
}

// settled reports whether nothing is put off, and all that can be has its handle.
func settled() bool { return late.asked.Load()+mostLate == late.free.Load() }

// settle starts what is put off, and gives handles to what will be. The program's thread
// does so at the begin of a call.
func settle() {
	late.mu.Lock()
	defer late.mu.Unlock()
	startAll()
	for free := late.free.Load(); free != late.started+mostLate; free++ {
		word := requests.reserve()
		if word == 0 {
			return // there are millions of requests
		}
		late.receives[free%mostLate].request = word
		late.free.Store(free + 1)
	}
}

// StartLate starts what is put off, in its order, for the program's thread.
func StartLate() {
	roomForHandlers()
	startLate()
}

// startLate is StartLate for the progress thread.
func startLate() {
	if settled() {
		return
	}
	late.mu.Lock()
	defer late.mu.Unlock()
	startAll()
}

func startAll() {
	for ; late.started != late.asked.Load(); late.started++ {
		l := &late.receives[late.started%mostLate]
		mem := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), l.buf)), int(l.bytes))
		r, err := mpi.Irecv(commOf(l.comm), mem, int(l.source), int(l.tag))
		if err != nil {
			r = refused(err)
		}
		requests.fill(l.request, r)
	}
}

// refused is a request that has completed with the error of a start. C has looked at the
// arguments, so none is known that comes here.
func refused(err error) mpi.Request {
	query := func() (mpi.Status, error) { return emptyStatus, err }
	r, _ := mpi.GrequestStart(world, query, nil, nil)
	_ = mpi.GrequestComplete(r)
	return r
}
