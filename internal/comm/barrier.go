package comm

import (
	"context"
	"runtime/trace"
	"sync"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// barrier is the state of a communicator's barriers. All ranks choose the same
// way. The first barrier uses messages, since most communicators have one at
// most. The second does too, and then prepares the flags. Later ones use flags
// if every rank could prepare them.
type barrier struct {
	mu    sync.Mutex // for the whole of a barrier
	calls int
	way   way
	flags *flags // nil before they are prepared
}

type way uint8

const (
	undecided way = iota
	byMessages
	byFlags
)

// treeFrom is from how many ranks on barriers go by a tree that may be all that connects
// these ranks: the first one, which most communicators have one of at most, and the last
// one of a job. 512 processes on two cores start, pass a barrier and end in 21 s with it and
// in 34 s without, most of which is connecting (scripts/launch-time many).
const treeFrom = 64

// Tags of the library's messages, besides those of collective calls. The preparation
// of the flags adds the round and the number of the rank in it. The last barrier has a
// tag of its own, so it works even where one of the program's has failed.
const (
	lastTag  = 1 << 29
	flagsTag = 1<<30 + 1
)

// Barrier blocks until every rank of the communicator has called it
// (MPI_Barrier, MPI-4.0 §6.3). After an error, which may be that of ctx, the
// communicator's collective calls fail at all ranks (abort.go). Calls of
// several goroutines run one after another. The last barrier, before the engine
// ends, is independent of all others. Non-local.
//
// Ranks that reach one another's memory use flags, see flags.go. Others use
// messages: in round k each rank receives from the rank 2ᵏ before it and sends
// to the rank 2ᵏ after it, ⌈log₂ n⌉ rounds in all. The first barrier of many ranks, and
// the last one, go up and down a tree, which connects fewer of them. That of an
// intercommunicator is a plan as those of other calls: no rank leaves it before all of
// both groups have come.
func (c *Comm) Barrier(ctx context.Context, last bool) (err error) {
	b := &c.barrier
	b.mu.Lock()
	var traced func()
	if log := c.in.Loop.Timeline(); log != nil || trace.IsEnabled() {
		traced = c.traceBarrier(log, last)
	}
	tag, seq, begun := int32(lastTag), uint32(0), false
	defer func() {
		if err != nil && begun {
			err = c.fail(seq, err)
		}
		if traced != nil {
			traced()
		}
		b.mu.Unlock()
	}()
	switch {
	case last:
		c.history.note(c.seq.Load()+1, signed(coll.Finalize, 0, 0))
	case c.Remote != nil:
		return c.Collective(ctx, coll.Barrier, c.Plan(&PlanKey{Call: coll.Barrier}), &Operands{})
	case c.check:
		return c.scheduled(ctx, coll.Barrier, c.Plan(&PlanKey{Call: coll.Barrier}), &Operands{})
	default:
		seq = c.seq.next()
		if err := c.Broken(); err != nil && !c.spares(seq) {
			return err
		}
		begun = true
		c.history.note(seq, signed(coll.Barrier, 0, 0))
		if b.calls++; b.way == byFlags {
			c.made.block(coll.Barrier, byFlagsToo)
			b.flags.begin(seq)
			return c.in.Loop.WaitFor(expiry.Of(ctx), b.flags)
		}
		tag = tagOf(coll.Barrier, seq)
		if b.calls == 1 && c.Size >= treeFrom {
			c.made.block(coll.Barrier, byTree)
		} else {
			c.made.block(coll.Barrier, 0) // as its messages are those of the plan
		}
	}
	// The engine is called from here and no function deeper, as in Dup. What the
	// messages carry is whether all ranks that they come from have flags.
	id, out, in := c.Library(), [1]byte{1}, [1]byte{}
	if c.Size >= treeFrom && (last || b.calls == 1) {
		for _, h := range hops(c.Rank, c.Size) {
			if h.send {
				err = c.P2P.Send(ctx, pt2pt.Standard, c.world(h.rank), id, tag, out[:])
			} else {
				_, err = c.P2P.Recv(ctx, c.world(h.rank), id, tag, in[:])
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for deciding := false; ; deciding = true {
		for step := 1; step < c.Size; step *= 2 {
			to, from := c.world((c.Rank+step)%c.Size), c.world((c.Rank-step+c.Size)%c.Size)
			if c.P2P.TrySend(to, id, tag, out[:]) {
				_, err = c.P2P.Recv(ctx, from, id, tag, in[:])
			} else {
				both := c.P2P.Isendrecv(ctx, id, out[:], to, tag, in[:], from, tag)
				_, err = progress.WaitResult(&both)
			}
			if err != nil {
				return err
			}
			out[0] &= in[0]
		}
		switch {
		case deciding && out[0] == 1:
			b.way = byFlags
			return nil
		case deciding, c.Size == 1:
			b.way = byMessages
			return nil
		case last, b.calls == 1, b.way == byMessages:
			return nil
		}
		b.flags = &flags{in: c.in, context: c.Library(), rounds: plan(c.Rank, c.Size, c.world)}
		if out[0], err = b.flags.prepare(ctx, c); err != nil {
			return err
		}
	}
}

// hop is a message of a barrier by a tree: to a rank or from it.
type hop struct {
	rank int
	send bool
}

// hops are those of a rank, in their order: from those below it in the tree, to the one
// above and from it, and to those below.
func hops(rank, size int) (all []hop) {
	top := 1 // the rank's lowest bit: those below it differ in one lower bit
	for ; top < size && rank&top == 0; top *= 2 {
		if below := rank + top; below < size {
			all = append(all, hop{below, false})
		}
	}
	if above := rank &^ top; rank > 0 {
		all = append(all, hop{above, true})
		all = append(all, hop{above, false})
	}
	for top /= 2; top > 0; top /= 2 {
		if below := rank + top; below < size {
			all = append(all, hop{below, true})
		}
	}
	return all
}

// giveFlags gives the flags of a communicator back that is freed. No barrier is under
// way here, or the program breaks the rules. whole says that no call has failed.
func (c *Comm) giveFlags(whole bool) {
	b := &c.barrier
	if !b.mu.TryLock() {
		return
	}
	defer b.mu.Unlock()
	if b.way == byFlags && whole {
		b.flags.release()
		b.way = byMessages
	}
}
