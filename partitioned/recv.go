package partitioned

import (
	"context"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// Recv is a partitioned receive.
type Recv struct {
	side
	posted bool // it waits for its PInit
	entry  match.Entry
	gone   bool // and has been freed
	until  expiry.Expiry

	// Loaded by any goroutine. got is stored once, when the PInit has come.
	got  atomic.Pointer[arrivals]
	open atomic.Bool   // a round is under way, or has failed
	news atomic.Uint32 // counts arrivals of blocks, and ends of rounds

	// The owner's.
	round    uint32
	count    int      // blocks that have arrived in this round
	missing  []uint64 // of each block: bytes that have not come, of those sent in packets
	asked    bitmap   // blocks that have been announced, or begun to come in packets
	ahead    bitmap   // blocks of the next round that have been announced
	from     fabric.Remote
	pending  runs // blocks to be read
	reading  int  // Gets under way
	stopping bool // the sender has been asked to write no more
}

// arrivals is what has come of a round.
type arrivals struct {
	shape  shape
	blocks bitmap // stored by the owner after the bytes, loaded by any goroutine
}

// PrecvInitData makes a partitioned receive into d in parts partitions of one size,
// at rest (MPI_Precv_init, MPI-4.0 §4.2.1). source is a rank of the job, or ProcNull.
// parts is at least 1 and divides the size of d. That memory is the engine's while
// the request is active, but for the partitions that have arrived. Local.
func (e *Engine) PrecvInitData(ctx context.Context, source int, cid uint32, tag int32, d *Data, parts int) *Recv {
	r := &Recv{until: expiry.Of(ctx)}
	r.recv = r
	request := e.loop.NewShared()
	request.Until, request.Imm, request.Peer, request.Kind = r.until, wire.Imm(cid, tag), int32(source), kindRecv
	frames.Callers(&request.Place)
	e.loop.Exclusive(func() {
		e.setUp(&r.side, request, d, parts)
		if source == ProcNull || r.refuses() {
			return
		}
		if id, ok := e.table.TakeUnexpected(cid, int32(source), tag); ok {
			e.takeInit(r, id)
			return
		}
		r.posted = true
		r.entry = e.table.Post(cid, int32(source), tag, uint32(r.name))
	})
	return r
}

// start begins a round.
func (r *Recv) start() {
	if r.peer == ProcNull {
		r.r.Result = progress.Result{Source: ProcNull, Tag: progress.AnyTag}
		r.e.loop.Finish(r.r, nil)
		return
	}
	if err := r.e.downTo(r.peer); err != nil {
		r.fail(err)
	}
	if err := r.failed(); err != nil {
		r.open.Store(true)
		r.e.loop.Finish(r.r, err)
		return
	}
	r.round = following(r.round)
	r.active, r.count = true, 0
	if got := r.got.Load(); got != nil {
		r.clear(got)
	}
	r.open.Store(true)
	if r.theirs != 0 {
		r.sayGo()
		r.readAhead()
	}
}

// clear forgets the blocks of the round before. Nobody asks for a partition at
// that time: the round begins.
func (r *Recv) clear(got *arrivals) {
	got.blocks.clear()
	r.asked.clear()
	for b := range r.missing {
		r.missing[b] = got.shape.room(b)
	}
}

func (r *Recv) sayGo() {
	r.post(wire.PGo, r.theirs, wire.MakePBlocks(r.e.hdr[:], r.round, 0, 0, 0))
}

// accept makes r the other side of a send.
func (r *Recv) accept(m wire.PartSend) {
	e := r.e
	r.posted, r.theirs = false, m.Channel
	reply := wire.PartRecv{Channel: r.name, Bytes: r.size, Parts: uint32(r.parts)}
	switch {
	case r.gone || r.fault.Load() != nil:
		reply.Verdict, reply.Why = wire.Forgone, r.why
		r.told = true
	case m.Bytes != reply.Bytes:
		reply.Verdict = wire.Differs
	default:
		got := &arrivals{shape: shape{m.Bytes, int(m.Parts), int(m.Per)}}
		n := got.shape.blocks()
		got.blocks, r.asked, r.ahead, r.missing = newBitmap(n), newBitmap(n), newBitmap(n), make([]uint64, n)
		r.from = fabric.Remote{Addr: m.Addr, Len: m.Bytes, Key: m.Key}
		r.expose(got.shape, m.Readable, &reply)
		r.clear(got)
		r.got.Store(got)
	}
	r.post(wire.PAccept, r.theirs, wire.MakePAccept(e.hdr[:], reply))
	switch {
	case r.gone:
		r.forget()
	case reply.Verdict == wire.Differs:
		r.fail(&SizeError{Sent: m.Bytes, Received: reply.Bytes, SendParts: int(m.Parts), ReceiveParts: r.parts})
	case r.active && r.ending == nil:
		r.sayGo()
	}
}

// expose registers the memory for the reads of this rank, and for the writes of
// the sender where it can write.
func (r *Recv) expose(s shape, readable bool, reply *wire.PartRecv) {
	switch {
	case r.scattered():
		reply.Verdict = wire.Scattered
		return
	case int(r.peer) == r.e.rank || len(r.buf) == 0:
		return
	}
	d, access := r.e.loop.Via(fabric.Peer(r.peer)), fabric.Access(0)
	caps := d.Caps()
	if readable && !caps.LocalUnregistered {
		access |= fabric.LocalWrite
	}
	least := uint64(caps.RndvMin)
	if d.Mapped(r.buf) {
		least = uint64(caps.RndvMinMapped)
	}
	if caps.Write && s.room(0) >= least {
		access |= fabric.RemoteWrite
	}
	if access == 0 {
		return
	}
	region, err := d.Register(r.buf, access)
	if err != nil {
		return
	}
	r.region = region
	if access&fabric.RemoteWrite != 0 {
		reply.Verdict, reply.Addr, reply.Key = wire.Writable, region.Addr, region.Key
	}
}

// expects reports whether the sender may say something of these blocks now, and
// notes that it has.
func (r *Recv) expects(round uint32, first, count uint32) bool {
	return r.active && round == r.round && r.note(r.asked, first, count)
}

// foresees is expects for blocks of the next round: they are read when it begins.
func (r *Recv) foresees(first, count uint32) bool { return r.note(r.ahead, first, count) }

// note adds blocks to a set, and reports whether there are such blocks, and none of
// them was in.
func (r *Recv) note(set bitmap, first, count uint32) bool {
	got := r.got.Load()
	if got == nil || count == 0 || int64(first)+int64(count) > int64(got.shape.blocks()) {
		return false
	}
	twice := set.fill(int(first), int(first+count), func(int, uint64) {})
	return twice < 0
}

// land takes blocks whose bytes are in their places.
func (r *Recv) land(first, count int) {
	got := r.got.Load()
	got.blocks.fill(first, first+count, func(int, uint64) {}) // after the bytes
	r.count += count
	defer r.news.Add(1)
	if r.count == got.shape.blocks() && r.active && r.ending == nil {
		_, tag := wire.Match(r.imm)
		r.r.Result = progress.Result{Source: int32(r.ranks.Rank(int(r.peer))), Tag: tag, Bytes: got.shape.bytes}
		r.open.Store(false)
		r.countReceived(got.shape.bytes)
		r.end(nil)
	}
}

// quiet reports whether nobody writes to the memory.
func (r *Recv) quiet() bool { return r.reading == 0 && !r.stopping }

// abandon ends the receive for a reason of this side.
func (r *Recv) abandon(err error) {
	r.because(err)
	if r.fault.Load() == nil && r.theirs != 0 {
		r.stopping, r.told = true, true
		r.fault.Store(&fault{err})
		r.post(wire.PStop, r.theirs, wire.MakePEnd(r.e.hdr[:], false, r.why))
	}
	r.fail(err)
}

// onStill: the sender writes no more.
func (r *Recv) onStill() {
	r.stopping = false
	r.settle()
}

// Arrived reports whether partition i has arrived (MPI_Parrived, MPI-4.0 §4.2.4).
// Of a receive that is not started all have. If it has not, Arrived makes
// progress. Local; for any goroutine. The error is a PartitionError, or why the
// round can't complete.
func (r *Recv) Arrived(i int) (bool, error) {
	if err := r.check(i, i); err != nil {
		return false, err
	}
	if r.Has(i) {
		return true, nil
	}
	if err := r.failed(); err != nil {
		return false, err
	}
	there := false
	r.e.loop.Glance(func() bool {
		there = r.Has(i)
		return there
	})
	return there, nil
}

// News counts what has come. Local; for any goroutine.
func (r *Recv) News() uint32 { return r.news.Load() }

// Await blocks until something has come since the call of News that returned
// since, or until the operation's context ends. The error is that of the context, or why
// the round can't complete. Non-local.
func (r *Recv) Await(since uint32) error {
	return r.e.loop.WaitFor(r.until, &awaited{r: r, since: since})
}

// awaited is that something has come.
type awaited struct {
	progress.Passive
	r     *Recv
	since uint32
}

func (a *awaited) Ready() (bool, error) {
	if a.r.news.Load() != a.since || !a.r.open.Load() {
		return true, nil
	}
	return false, a.r.failed()
}

// Has is Arrived for a partition that there is, without progress and errors. Local;
// for any goroutine.
func (r *Recv) Has(i int) bool {
	if !r.open.Load() {
		return true
	}
	got := r.got.Load()
	if got == nil {
		return false
	}
	part := r.size / uint64(r.parts)
	first, last := got.shape.over(uint64(i)*part, uint64(i+1)*part)
	return got.blocks.all(first, last+1)
}
