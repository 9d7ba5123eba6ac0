package comm

import (
	"context"
	"fmt"
	"sync"

	"github.com/weft-mpi/weft/progress"
)

// barrier is what a rank keeps of a communicator's barriers. Which way they go is
// the same at all ranks: the first one goes by messages, since most communicators
// have one at most; the second prepares the flags, and its messages tell whether
// every rank could; later ones go by flags if so.
type barrier struct {
	mu     sync.Mutex // for the whole of a barrier
	calls  uint64
	way    way
	broken error // why the ranks are no longer in step, nil while they are
	flags  flags
}

type way uint8

const (
	undecided way = iota
	byMessages
	byFlags
)

// Tags of the library's messages, besides those of Dup. To those of a barrier the
// distance of the round is added, a power of two; to those that prepare the flags
// the round and the number of the rank in it. Finalize has tags of its own: it is
// in step also where a barrier of the program's has failed.
const (
	barrierTag  = 0
	finalizeTag = 1 << 29
	flagsTag    = 1<<30 + 1
)

// Barrier blocks until every rank of the communicator has called it (MPI_Barrier,
// MPI-4.0 §6.3). After an error, which may be that of ctx, the ranks are no
// longer in step, and later calls answer that. Calls of several goroutines are
// made in turn. Non-local.
//
// Ranks that reach one another's memory meet by flags, see flags.go; others by
// messages, see meet.
func (c *Comm) Barrier(ctx context.Context) error {
	b := &c.barrier
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return b.broken
	}
	var err error
	if b.calls++; b.way == byFlags {
		b.flags.begin()
		err = c.in.Loop.WaitFor(progress.Expires(ctx), &b.flags)
	} else {
		err = c.decide(ctx)
	}
	if err != nil {
		b.broken = fmt.Errorf("an earlier collective call has failed, so that the ranks are not in step: %w", err)
	}
	return err
}

// decide is a barrier by messages, the second of which finds the way of later ones.
func (c *Comm) decide(ctx context.Context) error {
	b := &c.barrier
	if b.way == byMessages || b.calls == 1 || c.Size == 1 {
		_, err := c.meet(ctx, barrierTag, true)
		return err
	}
	b.flags = flags{in: c.in, context: c.Library()}
	can, err := b.flags.prepare(ctx, c)
	if err != nil {
		return err
	}
	all, err := c.meet(ctx, barrierTag, can)
	if b.way = byMessages; all {
		b.way = byFlags
	}
	return err
}

// Finish is the barrier of all ranks before the engine ends. It goes by messages.
// Non-local.
func (in *Instance) Finish(ctx context.Context) error {
	_, err := in.World.meet(ctx, finalizeTag, true)
	return err
}

// meet is the dissemination algorithm: in round k each rank hears from the one
// 2ᵏ before it and tells the one 2ᵏ after it, ⌈log₂ n⌉ rounds in all. It returns
// whether all ranks say yes. An error is one of the messages.
func (c *Comm) meet(ctx context.Context, tag int32, yes bool) (all bool, err error) {
	id, out, in := c.Library(), [1]byte{}, [1]byte{}
	for step := 1; step < c.Size; step *= 2 {
		out[0] = 0
		if yes {
			out[0] = 1
		}
		to, from, tag := (c.Rank+step)%c.Size, (c.Rank-step+c.Size)%c.Size, tag+int32(step)
		if c.P2P.TrySend(to, id, tag, out[:]) {
			_, err = c.P2P.Recv(ctx, from, id, tag, in[:])
		} else {
			both := c.P2P.Isendrecv(ctx, id, out[:], to, tag, in[:], from, tag)
			_, err = progress.WaitResult(&both)
		}
		if err != nil {
			return false, err
		}
		yes = yes && in[0] == 1
	}
	return yes, nil
}

// release gives the flags of a communicator back that is freed. No barrier is under
// way here, or the program breaks the rules.
func (c *Comm) release() {
	b := &c.barrier
	if !b.mu.TryLock() {
		return
	}
	defer b.mu.Unlock()
	if b.way == byFlags && b.broken == nil {
		b.flags.release()
		b.way = byMessages
	}
}
