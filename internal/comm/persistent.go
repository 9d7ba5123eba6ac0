package comm

import (
	"context"
	"slices"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// A persistent collective call (MPI-4.0 §6.13) is a schedule that is kept with its request
// and begins again at each start, with what is in its buffers then. Its Init draws the
// number that the messages of all starts have, in the order of the communicator's
// collective calls. So ranks may start several of them in different orders: messages of
// two have different tags, and those of two starts of one come in order, as a rank
// starts it again behind its own end only.
//
// A failure of one ends all persistent calls of the communicator, at all ranks, since
// ranks may have started others in another order; each start then fails. The other calls
// go on up to the last one that the rank which fails has made, but for an Init in which
// ranks still compare types.

// Persist makes a persistent collective call, at rest. Its place among the communicator's
// collective calls is that of this call. The memory of o is the request's while it is
// active, and o itself is copied; p is not changed. Each start ends with ctx. With
// Config.Check, or types to compare, ranks compare their calls here, once, and it waits for
// the others, as it does for a Barrier; it is local otherwise.
func (c *Comm) Persist(ctx context.Context, call coll.Call, p *coll.Plan, o *Operands) (progress.Handle, error) {
	var place [3]uintptr
	frames.Callers(&place)
	if call == coll.Barrier && !c.compares && c.Remote == nil && c.Size > 1 {
		if h, err := c.persistFlags(ctx, place); err != nil || !h.Null() {
			return h, err
		}
	}
	x := &schedule{m: c, c: c, call: call, kept: true, starts: c.made.starts(call, p.By), is: signed(call, o.Op, p.Alike).again()}
	if c.compares {
		first := &schedule{m: c, call: call, is: x.is}
		first.take(&coll.Plan{}, &Operands{Op: o.Op, Elements: o.Elements, Types: o.Types})
		c.place(first)
		h := first.begin(ctx, place)
		if _, err := progress.WaitResult(&h); err != nil {
			return progress.Handle{}, err
		}
		x.is, x.seq = first.is, first.seq
	} else {
		c.place(x)
	}
	x.take(p, o)
	x.lateReceives()
	x.ended = x.messageEnded
	hooks := make([]func(*progress.Request, error), len(x.steps))
	for i := range x.steps {
		if x.steps[i].Do == coll.Recv {
			hooks[i] = x.received(i)
		}
	}
	x.hooks = hooks
	return c.persist(ctx, x, place, x.seq, c.unkeep), nil
}

// persist makes the request of a persistent call, whose context says that it is the
// communicator's.
func (c *Comm) persist(ctx context.Context, s progress.Sink, place [3]uintptr, seq uint32, freed func()) progress.Handle {
	r := c.in.Loop.NewShared()
	r.Kind, r.Peer, r.Until, r.Place = 0, progress.AnySource, expiry.Of(ctx), place
	r.Imm = wire.Imm(c.Library(), tagOf(0, seq)|persistTag)
	c.in.Loop.Exclusive(func() {
		c.keep()
		r.Persist(s, nil, freed)
	})
	return r.Handle()
}

// lateReceives moves each Recv that is the only one before its Wait there, if it is short:
// so it is lone.
func (x *schedule) lateReceives() {
	x.steps = slices.Clone(x.steps)
	at, many := 0, 0 // the last Recv, and how many there are, since the last Wait
	for i, step := range x.steps {
		switch step.Do {
		case coll.Recv:
			at = i
			many++
		case coll.Wait:
			if recv := x.steps[at]; many == 1 && recv.To.N*x.elem <= shortRecv {
				copy(x.steps[at:], x.steps[at+1:i])
				x.steps[i-1] = recv
			}
			many = 0
		}
	}
}

// lone reports whether a Recv is all that is waited for next, and short: a long message
// had better find its receive.
func (x *schedule) lone(step *coll.Step) bool {
	return x.open == 0 && x.o.Gaps == nil && step.To.N*x.elem <= shortRecv && x.steps[x.next].Do == coll.Wait
}

// Carry goes on for the goroutine that waits for the call.
func (x *schedule) Carry(*progress.Request) {
	x.held, x.carried = false, true
	x.run()
	x.carried = false
}

// await receives a message while it spins, or begins a receive as any other step.
func (x *schedule) await(step *coll.Step, tag int32) {
	c, b := x.c, x.mem.at(step.To, x.elem)
	x.open++
	switch n, came := c.P2P.StepAwait(c.world(step.Peer), c.Library(), tag, b, &x.r.Place, x.hooks[x.next-1]); {
	case !came:
	case n == len(b):
		x.open--
	default:
		x.messageEnded(nil, lengthError(c, x.call, step.Peer, uint64(n), uint64(len(b))))
	}
}
