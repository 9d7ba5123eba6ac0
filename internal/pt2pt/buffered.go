package pt2pt

import (
	"cmp"
	"context"

	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// BufferOverhead is the attached memory that a buffered send takes besides its
// message, in bytes (MPI_BSEND_OVERHEAD). With it the message can begin on a
// cache line.
const BufferOverhead = 64

// Everywhere is the context of the memory for buffered sends in contexts without
// memory of their own.
const Everywhere = ^uint32(0)

// attached is a user's memory for the copies of buffered sends. The ring may
// have no room for a send because the free parts are not contiguous, or lie
// behind an older entry in use. Such a send is copied to other memory, as long
// as everything under way would fit into the user's. So a message that no rank
// receives does not block the rest of the memory.
type attached struct {
	e       *Engine
	mem     []byte
	ring    bufRing
	used    int // sends under way
	bytes   int // their messages and overheads
	hook    func(*progress.Request, error)
	flushes progress.List
}

// outside is the number of an entry whose copy is not in the ring.
const outside = ^uint64(0)

// AttachBuffer gives b to the buffered sends of a context, or of Everywhere,
// until DetachBuffer (MPI-4.1 §3.6). Local.
func (e *Engine) AttachBuffer(cid uint32, b []byte) (err error) {
	e.loop.Exclusive(func() {
		if e.attached[cid] != nil {
			err = ErrAttached
			return
		}
		a := &attached{e: e, mem: b, ring: bufRing{size: len(b)}}
		a.hook = a.ended
		e.attached[cid] = a
	})
	return err
}

// DetachBuffer blocks until all messages in the context's attached memory are on
// their way, and returns that memory. Without attached memory it returns nil, as
// if memory of no bytes were attached (MPI-4.0 §3.6).
func (e *Engine) DetachBuffer(ctx context.Context, cid uint32) (b []byte, err error) {
	for {
		if err := e.FlushBuffer(ctx, cid); err != nil {
			return nil, err
		}
		over := false
		e.loop.Exclusive(func() {
			a := e.attached[cid]
			switch {
			case a == nil:
				over = true
			case a.used == 0:
				over, b = true, a.mem
				delete(e.attached, cid)
			}
		})
		if over {
			return b, err
		}
	}
}

// FlushBuffer blocks until all messages in the context's attached memory are on
// their way: all of the memory is free then.
func (e *Engine) FlushBuffer(ctx context.Context, cid uint32) error {
	r := e.loop.NewShared()
	fill(r, expiry.Of(ctx), kindFlush, e.rank, wire.Imm(cid, 0), nil)
	_, err := e.run(r, false)
	return err
}

// IflushBuffer starts FlushBuffer. Local.
func (e *Engine) IflushBuffer(ctx context.Context, cid uint32) progress.Handle {
	r := e.loop.NewShared()
	fill(r, expiry.Of(ctx), kindFlush, e.rank, wire.Imm(cid, 0), nil)
	return e.start(r, false)
}

func cidOf(r *progress.Request) uint32 { return uint32(r.Imm >> 32) }

func (e *Engine) startFlush(r *progress.Request) {
	a := e.attached[cidOf(r)]
	r.Result = progress.Result{Source: match.AnySource, Tag: match.AnyTag}
	if a == nil || a.used == 0 {
		e.loop.Finish(r, nil)
		return
	}
	r.Step = stepFlush
	a.flushes.Add(r)
}

func (e *Engine) unflush(r *progress.Request) {
	if a := e.attached[cidOf(r)]; a != nil {
		a.flushes.Remove(r)
	}
}

// sendBuffered sends from a copy: the send completes at once, the copy's send
// continues (MPI-4.0 §3.6).
func (e *Engine) sendBuffered(r *progress.Request) {
	cid := cidOf(r)
	r.Path = pathNone
	a := cmp.Or(e.attached[cid], e.attached[Everywhere])
	if a == nil {
		e.finishSend(r, &cause.NoBufferError{Need: int(r.Size()) + e.overhead()})
		return
	}
	n := int(r.Size())
	block, number, ok := a.take(n)
	if !ok {
		e.finishSend(r, &cause.NoBufferError{Need: n + e.overhead(), Free: max(a.ring.room(), a.free()), Size: len(a.mem)})
		return
	}
	if lay := r.Layout(); lay != nil {
		lay.Pack(block, 0)
	} else {
		copy(block, r.Buf)
	}
	_, tag := wire.Match(r.Imm)
	d := e.loop.New()
	fill(d, expiry.Expiry{}, kindSend, int(r.Peer), wire.Imm(cid, tag), block)
	d.Found = number
	e.loop.Orphan(e, d, a.hook)
	e.finishSend(r, nil)
}

// take returns room for a copy of n bytes, which has a number. One that has a header may be
// longer than what it takes of the attached memory, and lies outside of that.
func (a *attached) take(n int) (block []byte, number uint64, ok bool) {
	entry := n + a.e.overhead()
	if a.e.header == 0 {
		if off, number, ok := a.ring.add(entry); ok {
			off = (off + BufferOverhead - 1) &^ (BufferOverhead - 1)
			a.used, a.bytes = a.used+1, a.bytes+entry
			return a.mem[off : off+n], number, true
		}
	}
	if entry > a.free() {
		return nil, 0, false
	}
	a.used, a.bytes = a.used+1, a.bytes+entry
	return a.e.buffers.take(n)[:n], outside, true
}

// drop frees the room of a copy.
func (a *attached) drop(block []byte, number uint64) {
	if number == outside {
		a.e.buffers.give(block)
	} else {
		a.ring.done(number)
	}
	a.used, a.bytes = a.used-1, a.bytes-len(block)-a.e.overhead()
}

// free is the number of unused bytes, wherever they lie.
func (a *attached) free() int { return len(a.mem) - a.bytes }

// ended frees a copy's room once it has been sent.
func (a *attached) ended(d *progress.Request, err error) {
	if err != nil {
		a.e.log.Error("a buffered send failed after it had been taken over", "rank", a.e.rank, "dest", d.Peer, "err", err)
	}
	if a.drop(d.Buf, d.Found); a.used > 0 || a.e.loop.Over() {
		return
	}
	for r := a.flushes.First(); r != nil; r = a.flushes.First() {
		a.flushes.Remove(r)
		a.e.loop.Finish(r, nil)
	}
}
