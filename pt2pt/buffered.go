package pt2pt

import (
	"context"
	"slices"
	"sort"

	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// BufferOverhead is what a buffered send may take of attached memory besides
// its message, in bytes (MPI_BSEND_OVERHEAD).
const BufferOverhead = bufferAlign

const bufferAlign = 64

// Everywhere is the context of memory for the buffered sends of all contexts
// that have none of their own.
const Everywhere = ^uint32(0)

// attached is a user's memory for the copies of buffered sends.
type attached struct {
	e       *Engine
	mem     []byte
	gaps    []span // free, by offset, never adjacent
	used    int    // sends that have a copy here
	hook    func(*progress.Request, error)
	flushes chain
}

type span struct{ off, n int }

// AttachBuffer gives b to the buffered sends of a context, or Everywhere, until
// DetachBuffer (MPI-4.1 §3.6). It is local.
func (e *Engine) AttachBuffer(cid uint32, b []byte) (err error) {
	e.loop.Exclusive(func() {
		if e.attached[cid] != nil {
			err = ErrAttached
			return
		}
		a := &attached{e: e, mem: b}
		if n := len(b) &^ (bufferAlign - 1); n > 0 {
			a.gaps = []span{{0, n}}
		}
		a.hook = a.ended
		e.attached[cid] = a
	})
	return err
}

// DetachBuffer blocks until all messages in the context's attached memory are
// on their way, and gives it back.
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
				over, err = true, ErrNotAttached
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
// their way: it may be all sent over again.
func (e *Engine) FlushBuffer(ctx context.Context, cid uint32) error {
	r := fill(e.loop.NewShared(), progress.Expires(ctx), kindFlush, e.rank, cid, 0, nil)
	_, err := e.loop.Do(e, r)
	return err
}

// IflushBuffer starts FlushBuffer. It is local.
func (e *Engine) IflushBuffer(ctx context.Context, cid uint32) progress.Handle {
	return e.submit(fill(e.loop.NewShared(), progress.Expires(ctx), kindFlush, e.rank, cid, 0, nil))
}

func cidOf(r *progress.Request) uint32 { return uint32(r.Imm >> 32) }

func (e *Engine) startFlush(r *progress.Request) {
	a := e.attached[cidOf(r)]
	r.Result = progress.Result{Source: match.AnySource, Tag: match.AnyTag}
	switch {
	case a == nil:
		e.loop.Finish(r, ErrNotAttached)
	case a.used == 0:
		e.loop.Finish(r, nil)
	default:
		r.Step = stepFlush
		a.flushes.add(r)
	}
}

func (e *Engine) unflush(r *progress.Request) {
	if a := e.attached[cidOf(r)]; a != nil {
		a.flushes.remove(r)
	}
}

// sendBuffered sends from a copy: the send is over at once, the copy's goes on
// (MPI-4.0 §3.6).
func (e *Engine) sendBuffered(r *progress.Request) {
	cid := cidOf(r)
	a := e.attached[cid]
	if a == nil {
		a = e.attached[Everywhere]
	}
	if a == nil {
		e.finishSend(r, &NoBufferError{Need: len(r.Buf) + BufferOverhead})
		return
	}
	off, ok := a.take(len(r.Buf))
	if !ok {
		e.finishSend(r, &NoBufferError{Need: roundUp(len(r.Buf)), Free: a.largest(), Size: len(a.mem)})
		return
	}
	block := a.mem[off : off+len(r.Buf)]
	copy(block, r.Buf)
	d := e.loop.New()
	d.Kind, d.Mode, d.Peer, d.Imm, d.Buf, d.Offset = kindSend, uint8(Standard), r.Peer, r.Imm, block, 0
	d.Remote.Addr = uint64(off)
	a.used++
	e.loop.Orphan(e, d, a.hook)
	e.finishSend(r, nil)
}

// ended takes a copy's room back.
func (a *attached) ended(d *progress.Request, err error) {
	if err != nil {
		a.e.log.Error("a buffered send failed after it had been taken over", "rank", a.e.rank, "dest", d.Peer, "err", err)
	}
	a.give(int(d.Remote.Addr), len(d.Buf))
	if a.used--; a.used > 0 || a.e.loop.Over() {
		return
	}
	for r := a.flushes.head; r != nil; r = a.flushes.head {
		a.flushes.remove(r)
		a.e.loop.Finish(r, nil)
	}
}

func roundUp(n int) int { return max(n+bufferAlign-1, bufferAlign) &^ (bufferAlign - 1) }

// take finds the first gap for n bytes.
func (a *attached) take(n int) (off int, ok bool) {
	n = roundUp(n)
	for i := range a.gaps {
		g := &a.gaps[i]
		if g.n < n {
			continue
		}
		off = g.off
		g.off, g.n = g.off+n, g.n-n
		if g.n == 0 {
			a.gaps = slices.Delete(a.gaps, i, i+1)
		}
		return off, true
	}
	return 0, false
}

func (a *attached) give(off, n int) {
	n = roundUp(n)
	i := sort.Search(len(a.gaps), func(i int) bool { return a.gaps[i].off > off })
	left := i > 0 && a.gaps[i-1].off+a.gaps[i-1].n == off
	right := i < len(a.gaps) && off+n == a.gaps[i].off
	switch {
	case left && right:
		a.gaps[i-1].n += n + a.gaps[i].n
		a.gaps = slices.Delete(a.gaps, i, i+1)
	case left:
		a.gaps[i-1].n += n
	case right:
		a.gaps[i].off, a.gaps[i].n = off, a.gaps[i].n+n
	default:
		a.gaps = slices.Insert(a.gaps, i, span{off, n})
	}
}

func (a *attached) largest() (n int) {
	for _, g := range a.gaps {
		n = max(n, g.n)
	}
	return n
}
