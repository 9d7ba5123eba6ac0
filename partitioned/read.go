package partitioned

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

// read is a Get under way.
type read struct {
	r *Recv
	run
}

// onReady reads blocks that the sender has announced.
func (r *Recv) onReady(first, count int) {
	r.pending.add(run{first, count})
	r.readMore(false)
}

// readAhead reads the blocks that were announced before the round has begun.
func (r *Recv) readAhead() {
	r.ahead.take(func(first, count int) {
		r.asked.fill(first, first+count, func(int, uint64) {})
		r.pending.add(run{first, count})
	})
	if !r.pending.empty() {
		r.readMore(false)
	}
}

// readMore begins the Gets that there is room for.
func (r *Recv) readMore(resumed bool) error {
	e := r.e
	c := e.loop.Conn(fabric.Peer(r.peer))
	for !r.pending.empty() {
		if r.r.Queued() {
			return nil // it comes to its turn
		}
		if err := c.Down(); err != nil {
			return err
		}
		x := r.pending.first()
		lo, hi := r.got.Load().shape.span(x.first, x.count)
		tag := e.take(read{r, x})
		err := c.Endpoint().Get(fabric.Segment{Bytes: r.buf[lo:hi], Region: r.part(lo, hi)},
			fabric.Remote{Addr: r.from.Addr + lo, Len: hi - lo, Key: r.from.Key}, e.ops.Op(uint64(tag)))
		if err != nil {
			e.put(tag)
		}
		if err == fabric.ErrAgain {
			if !resumed {
				c.Enqueue(r.r)
			}
			return err
		}
		r.pending.pop()
		if err == nil {
			r.reading++
			e.loop.Rouse() // a Poll reports its completion
			continue
		}
		r.onRead(x, err)
	}
	return nil
}

// drop refuses the blocks that it has not begun to read.
func (r *Recv) drop() {
	if r.r.Queued() {
		r.e.loop.Conn(fabric.Peer(r.peer)).Withdraw(r.r)
	}
	for ; !r.pending.empty(); r.pending.pop() {
		r.tellDone(r.round, r.pending.first(), wire.Failed)
	}
	r.ahead.take(func(first, count int) { r.tellDone(following(r.round), run{first, count}, wire.Failed) })
}

// part is the registration of a part of the memory.
func (r *Recv) part(lo, hi uint64) fabric.Region {
	x := r.region
	if x.Len > 0 {
		x.Addr, x.Len = x.Addr+lo, hi-lo
	}
	return x
}

// take returns a tag for a Get, and put gives it back.
func (e *Engine) take(x read) (tag uint32) {
	if last := len(e.idle) - 1; last >= 0 {
		tag = e.idle[last]
		e.idle = e.idle[:last]
		e.reads[tag] = x
		return tag
	}
	e.reads = append(e.reads, x)
	return uint32(len(e.reads) - 1)
}

func (e *Engine) put(tag uint32) {
	e.reads[tag] = read{}
	e.idle = append(e.idle, tag)
}

// onRead takes the completion of a Get.
func (e *Engine) onRead(tag uint64, err error) {
	x := e.reads[tag]
	e.put(uint32(tag))
	x.r.reading--
	x.r.onRead(x.run, err)
}

func (r *Recv) onRead(x run, err error) {
	switch {
	case err == nil && r.fault.Load() == nil:
		r.tellDone(r.round, x, wire.Taken)
		r.land(x.first, x.count)
	case errors.Is(err, fabric.ErrUnsupported) && r.e.downTo(r.peer) == nil:
		for b := x.first; b < x.first+x.count; b++ {
			r.asked.claim(b) // they come in packets
		}
		r.tellDone(r.round, x, wire.Refused)
	default:
		r.tellDone(r.round, x, wire.Failed)
		if err != nil && r.fault.Load() == nil {
			r.abandon(err) // the sender may be writing
		}
	}
	r.settle()
}

// tellDone tells the sender what became of blocks of a round.
func (r *Recv) tellDone(round uint32, x run, fate wire.Fate) {
	r.post(wire.PDone, r.theirs, wire.MakePBlocks(r.e.hdr[:], round, uint32(x.first), uint32(x.count), fate))
}
