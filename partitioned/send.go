package partitioned

import (
	"context"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Send is a partitioned send.
type Send struct {
	side
	shape    shape
	readable bool // the receiver may read the memory

	// Of the round. The bits of ready and the counts of left are reset by start,
	// before the Start of the user's returns, and changed by Ready.
	ready bitmap         // partitions that are
	left  []atomic.Int32 // of each block: partitions that are not
	due   bitmap         // blocks that are ready and that nobody has begun to send

	// round is the number of the last round that was started. began is the last one
	// that the receiver has begun, or 0 if nothing may be sent any more. Ready adds
	// to due and then loads began; the owner stores began and then takes from due:
	// one of them sees the other, and who takes a block out of due sends it.
	round, began atomic.Uint32

	// For goroutines that write blocks themselves, see write.go.
	to        atomic.Pointer[target]
	landed    bitmap                // blocks that have been written
	unwritten atomic.Pointer[fault] // why a block could not be
	writing   atomic.Int32          // goroutines that are at it, or pack
	lent      atomic.Int32          // blocks that the receiver may read: the owner's, loaded by these goroutines
	kick      *progress.Kick

	// The owner's.
	sent     int    // blocks that need the memory no more
	early    int    // blocks that were due before the receiver had begun the round
	goes     bool   // it begins it
	packets  runs   // blocks to be sent in packets
	at       uint64 // bytes of the first of them that have been sent
	inPieces bool   // blocks are sent in packets
	stopping bool   // the receiver waits for the end of all writing
	parting  bool   // it is to be told that the send is abandoned, after that
}

// PsendInitData makes a partitioned send of d in parts partitions of one size, at
// rest (MPI_Psend_init, MPI-4.0 §4.2.1). dest is a rank of the job, or ProcNull.
// parts is at least 1 and divides the size of d. That memory is the engine's while
// the request is active, but for the partitions that are not ready. Local.
func (e *Engine) PsendInitData(ctx context.Context, dest int, cid uint32, tag int32, d *Data, parts int) *Send {
	s := &Send{}
	s.send = s
	r := e.loop.NewShared()
	r.Until, r.Imm, r.Peer, r.Kind = expiry.Of(ctx), wire.Imm(cid, tag), int32(dest), kindSend
	frames.Callers(&r.Place)
	e.loop.Exclusive(func() {
		e.setUp(&s.side, r, d, parts)
		s.setUp()
	})
	return s
}

func (s *Send) setUp() {
	e, l := s.e, s.e.loop
	s.kick = l.NewKick(s.push)
	var caps fabric.Caps
	if s.peer != ProcNull {
		caps = l.Via(fabric.Peer(s.peer)).Caps()
	}
	s.inPieces = true
	least := uint64(caps.RndvMin)
	if int(s.peer) == e.rank {
		least = 0 // a copy of any length
	}
	s.shape = cut(s.size, s.parts, least)
	s.ready, s.due, s.landed = newBitmap(s.parts), newBitmap(s.shape.blocks()), newBitmap(s.shape.blocks())
	s.left = make([]atomic.Int32, s.shape.blocks())
	switch {
	case s.peer == ProcNull, s.refuses():
		return
	case int(s.peer) != e.rank:
		s.readable = s.lend(caps)
		s.inPieces = !s.readable
		if err := l.Conn(fabric.Peer(s.peer)).Down(); err != nil {
			s.fail(err)
			return
		}
	}
	s.post(wire.PInit, s.imm, wire.MakePInit(e.hdr[:], wire.PartSend{Channel: s.name, Bytes: s.size, Parts: uint32(s.parts),
		Per: uint32(s.shape.per), Addr: s.region.Addr, Key: s.region.Key, Readable: s.readable}))
}

// lend registers the memory for the receiver's reading, if that pays.
func (s *Send) lend(caps fabric.Caps) bool {
	least := uint64(caps.RndvMin)
	d := s.e.loop.Via(fabric.Peer(s.peer))
	if d.Mapped(s.buf) {
		least = uint64(caps.RndvMinMapped)
	}
	if !caps.Get || s.shape.bytes == 0 || s.shape.room(0) < least {
		return false
	}
	region, err := d.Register(s.buf, fabric.RemoteRead)
	if err != nil {
		return false
	}
	s.region = region
	return true
}

// start begins a round.
func (s *Send) start() {
	if err := s.failed(); err != nil {
		s.e.loop.Finish(s.r, err)
		return
	}
	s.ready.clear()
	for b := range s.left {
		s.left[b].Store(int32(s.shape.partitions(b)))
	}
	s.sent, s.early, s.active = 0, 0, true
	s.round.Store(following(s.round.Load()))
	if s.peer == ProcNull {
		s.r.Result.Source = ProcNull
		s.end(nil)
	}
}

// onAccept takes the reply to PInit.
func (e *Engine) onAccept(from fabric.Peer, name uint64, m wire.PartRecv) bool {
	s := e.names.send(name, from)
	switch {
	case s == nil || s.theirs != 0: // freed meanwhile
		return s == nil
	case m.Verdict == wire.Forgone:
		s.fail(s.lost(m.Why))
		return true
	}
	s.theirs = m.Channel
	switch {
	case m.Verdict == wire.Differs:
		s.fail(&SizeError{Sent: s.shape.bytes, Received: m.Bytes, SendParts: s.parts, ReceiveParts: int(m.Parts)})
	case m.Bytes != s.shape.bytes:
		return false
	default:
		s.inPieces = s.inPieces || m.Verdict == wire.Scattered
		s.aim(m)
		s.push()
	}
	return true
}

// onGo: the receiver has begun a round.
func (s *Send) onGo(round uint32) bool {
	if s.fault.Load() != nil {
		return true
	}
	if round == 0 || s.theirs == 0 {
		return false
	}
	s.began.Store(round)
	s.goes = true
	s.push()
	s.goes = false
	return true
}

// push sends the blocks that are due, and tells of those that have been written.
// Those that the receiver may read it announces even if the receiver has not begun
// the round: it reads them when it does. It is the work of kick.
func (s *Send) push() {
	if s.e.loop.Over() {
		s.fault.CompareAndSwap(nil, &fault{fabric.ErrClosed}) // its request has failed
		return
	}
	if f := s.unwritten.Load(); f != nil && s.fault.Load() == nil {
		s.abandon(f.err)
	}
	round := s.round.Load()
	switch began := s.began.Load() == round; {
	case s.fault.Load() != nil || !s.active:
	case began:
		for again := true; again; {
			to := s.to.Load()
			s.due.take(func(first, count int) {
				if s.goes {
					s.early += count
				}
				s.give(first, count, round)
			})
			again = s.to.Load() != to // a write was refused: its blocks are due once more
		}
		s.sendPackets(false)
	case s.theirs != 0 && !s.inPieces:
		s.due.take(func(first, count int) {
			s.early += count
			s.give(first, count, round)
		})
	}
	if s.active {
		s.landed.take(func(first, count int) { s.tellLanded(first, count, round) })
		s.finished()
	}
	s.still()
}

// give sends blocks in the way that is best.
func (s *Send) give(first, count int, round uint32) {
	switch to := s.to.Load(); {
	case !s.inPieces:
		s.lent.Add(int32(count))
		s.post(wire.PReady, s.theirs, wire.MakePBlocks(s.e.hdr[:], round, uint32(first), uint32(count), 0))
	case to != nil:
		s.write(to, first, count, round)
	default:
		s.packets.add(run{first, count})
	}
}

// finished completes the round once all blocks have left.
func (s *Send) finished() {
	if s.active && s.ending == nil && s.sent == s.shape.blocks() {
		s.countSent()
		s.end(nil)
	}
}

// onDone: the receiver has read blocks, or can't.
func (s *Send) onDone(round, first, count uint32, fate wire.Fate) bool {
	if s.lent.Load() == 0 && s.fault.Load() != nil {
		return true // its receiver was thought dead
	}
	if int64(count) > int64(s.lent.Load()) || count == 0 || round != s.round.Load() || int64(first)+int64(count) > int64(s.shape.blocks()) {
		return false
	}
	s.lent.Add(-int32(count))
	switch fate {
	case wire.Taken:
		s.sent += int(count)
		s.finished()
	case wire.Refused:
		s.inPieces = true
		if s.fault.Load() == nil {
			s.packets.add(run{int(first), int(count)})
			s.sendPackets(false)
			s.finished()
		}
	default:
		rank, remote := s.other()
		s.fail(&UnreadError{rank, remote})
	}
	s.settle()
	return true
}

// quiet reports whether nobody uses the memory.
func (s *Send) quiet() bool { return s.lent.Load() == 0 && s.writing.Load() == 0 }

// abandon ends the send for a reason of this side.
func (s *Send) abandon(err error) {
	s.because(err)
	if s.fault.Load() == nil {
		s.parting = true
	}
	s.fail(err)
	s.still()
}

// stop ends the sending of blocks.
func (s *Send) stop() {
	s.began.Store(0)
	s.packets, s.at = runs{}, 0
	if s.r.Queued() {
		s.e.loop.Conn(fabric.Peer(s.peer)).Withdraw(s.r)
	}
}

// onStop: the receiver gives its side up, and waits for the end of all writing.
func (s *Send) onStop(why wire.PartEnd) {
	s.stopping, s.told = true, true
	s.fail(s.lost(why))
	s.still()
}

// still says what waits for the end of all writing. A goroutine that begins to
// write adds to writing and then loads began; whoever has set that to 0 loads
// writing afterwards. The last one that writes kicks. For those that pack see pack.
func (s *Send) still() {
	if s.writing.Load() > 0 {
		return
	}
	if s.stopping {
		s.stopping = false
		s.post(wire.PStill, s.theirs, nil)
	}
	if s.parting {
		s.parting = false
		s.tellFreed()
	}
	s.settle()
}
