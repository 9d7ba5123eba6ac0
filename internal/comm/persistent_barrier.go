package comm

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/progress"
)

// flagBarrier is a persistent barrier of ranks that reach one another's memory, with flags
// of its own. It is the sink of its request, and the condition that this waits for. Its
// fields belong to the owner of the loop.
type flagBarrier struct {
	progress.Passive
	c      *Comm
	f      *flags
	seq    uint32
	starts *uint64
	held   bool
}

// persistFlags makes one, or returns no request if a rank does not reach another one's
// memory. The ranks agree on that, twice: before they prepare the flags, and behind it.
func (c *Comm) persistFlags(ctx context.Context, place [3]uintptr) (h progress.Handle, err error) {
	x := &schedule{is: signed(coll.Barrier, 0, 0).again()}
	c.place(x)
	f := &flags{in: c.in, context: c.Library(), rounds: plan(c.Rank, c.Size, c.world)}
	can := byte(0)
	c.in.Loop.Exclusive(func() {
		if f.mayShare() {
			can = 1
		}
	})
	if can, err = c.allCan(ctx, x, place, can); err != nil || can == 0 {
		return h, err
	}
	if can, err = f.prepare(ctx, c); err != nil {
		return h, c.fail(x.seq, err)
	}
	shares := f.mine.Bytes != nil
	if can, err = c.allCan(ctx, x, place, can); err != nil || can == 0 {
		if err == nil && shares {
			f.release()
		}
		return h, err
	}
	b := &flagBarrier{c: c, f: f, seq: x.seq, starts: c.made.starts(coll.Barrier, byFlagsToo)}
	return c.persist(ctx, b, place, x.seq, b.freed), nil
}

// allCan has all ranks hear whether all of them can, as a part of the call of x.
func (c *Comm) allCan(ctx context.Context, x *schedule, place [3]uintptr, can byte) (all byte, err error) {
	in, out := binary.LittleEndian.AppendUint64(nil, uint64(1-can)), make([]byte, 8)
	part := &schedule{m: c, c: c, call: coll.Barrier, is: x.is, seq: x.seq}
	p := coll.Make(coll.Allreduce, &coll.Shape{Rank: c.Rank, Size: c.Size, Count: 1, Bytes: 8, Commutes: true})
	part.take(&p, &Operands{In: in, Out: out, Elem: 8, Combine: greatest})
	h := part.begin(ctx, place)
	if _, err := progress.WaitResult(&h); err != nil {
		return 0, err
	}
	return 1 - out[0], nil
}

// Start begins a barrier, or goes on with one that was held.
func (b *flagBarrier) Start(r *progress.Request) {
	c := b.c
	if b.held {
		b.held = false
		c.in.Loop.WatchOn(r, b)
		return
	}
	count(b.starts)
	c.calls++
	if err := c.Broken(); err != nil {
		c.calls--
		c.in.Loop.Finish(r, err)
		return
	}
	b.f.begin(b.seq)
	switch ok, err := b.Ready(); {
	case ok || err != nil:
		c.in.Loop.Finish(r, err)
	case c.in.Loop.Hold(r):
		b.held = true
	default:
		c.in.Loop.WatchOn(r, b)
	}
}

// Carry goes on for the goroutine that waits for the barrier.
func (b *flagBarrier) Carry(r *progress.Request) {
	b.held = false
	if ok, err := b.c.in.Loop.Glimpse(b); ok || err != nil {
		b.c.in.Loop.Finish(r, err)
		return
	}
	b.c.in.Loop.WatchOn(r, b)
}

// Ready takes the barrier as far as it goes. Once it has ended it is not called any more.
func (b *flagBarrier) Ready() (bool, error) {
	ok, err := b.f.Ready()
	if err != nil {
		err = b.c.failPersistent(err)
	}
	if ok || err != nil {
		b.c.calls--
	}
	return ok, err
}

// Cancel ends the barrier with the user's context.
func (b *flagBarrier) Cancel(r *progress.Request, err error) bool {
	b.c.in.Loop.Unwatch(r)
	b.c.calls--
	b.c.in.Loop.Finish(r, b.c.failPersistent(err))
	return true
}

// freed gives the flags back: all ranks have raised theirs for the last barrier.
func (b *flagBarrier) freed() {
	if b.c.Broken() == nil {
		b.f.release()
	}
	b.c.unkeep()
}

// Describe says which rank has not raised its flag.
func (b *flagBarrier) Describe(_ *progress.Request, words bool) progress.Info {
	i := progress.Info{Class: "collective", Name: "persistent Barrier", Firm: true, What: "persistent Barrier", Condition: b}
	if f := b.f.Describe(nil, false); words && f.Needs {
		i.State = fmt.Sprintf("waits for rank %d", f.Caller)
	}
	return i
}

// State is that for a report.
func (b *flagBarrier) State(w *diagnose.Wait) {
	w.Kind, w.Comm, w.Number, w.Call = diagnose.Collective, b.c.ID, b.seq, "persistent Barrier"
	if f := b.f.Describe(nil, false); f.Needs {
		w.State, w.Needs = fmt.Sprintf("waits for rank %d", f.Caller), []int{int(f.Caller)}
	}
}
