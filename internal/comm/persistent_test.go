package comm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// again starts a persistent call and waits for it.
func again(h progress.Handle) error {
	if err := progress.Restart(h); err != nil {
		return err
	}
	_, err := progress.WaitResult(&h)
	return err
}

// Two calls that are under way at once have memory and messages of their own, in whichever
// order ranks start them.
func TestPersistentCallsStartInOtherOrders(t *testing.T) {
	const rounds = 5
	second := make(chan struct{})
	noErrors(t, each(engines(t, 2), func(ctx context.Context, in *Instance) error {
		c, p := in.World, chain(in.World.Rank, 2, 1)
		var hs [2]progress.Handle
		var ins, outs [2][]byte
		for i := range hs {
			ins[i], outs[i] = make([]byte, 8), make([]byte, 8)
			o := Operands{In: ins[i], Out: outs[i], Elem: 8, User: true, Combine: func(lower, upper, to []byte) { // at rank 1
				if i == 0 {
					<-second
				} else {
					second <- struct{}{}
				}
				digits(lower, upper, to)
			}}
			var err error
			if hs[i], err = c.Persist(ctx, coll.Allreduce, p, &o); err != nil {
				return err
			}
		}
		for round := range rounds {
			for i := range hs {
				binary.LittleEndian.PutUint64(ins[i], uint64(1+4*i+c.Rank))
				clear(outs[i])
			}
			first := (c.Rank + round) % 2
			started := []progress.Handle{hs[first], hs[1-first]}
			if err := progress.RestartAll(started); err != nil {
				return err
			}
			if err := progress.WaitAll(started, make([]progress.Status, 2)); err != nil {
				return err
			}
			if !bytes.Equal(outs[0], words(1, 12)) || !bytes.Equal(outs[1], words(1, 56)) {
				return fmt.Errorf("round %d: rank %d has %v and %v", round, c.Rank, outs[0], outs[1])
			}
		}
		s := in.Loop.Snapshot()
		if n := s.Value("weft_coll_calls_total", "AllreduceInit", algorithmName(coll.Allreduce, 0)); n != 2*rounds {
			return fmt.Errorf("%d starts are counted", n)
		}
		return nil
	}))
}

// A start that fails ends persistent calls at all ranks, and calls that are made behind it.
// Those that its rank has made by then go well.
func TestAFailedStartLeavesCallsAlone(t *testing.T) {
	noErrors(t, eachOrNone(engines(t, 2), func(ctx context.Context, in *Instance) error {
		c, p := in.World, all(in.World.Rank, 2, 1)
		ops := func() *Operands { return &Operands{In: words(1, 1), Out: make([]byte, 16), Elem: 8} }
		until, cancel := context.WithCancel(ctx)
		defer cancel()
		h, err := c.Persist(until, coll.Allgather, p, ops())
		other, err2 := c.Persist(ctx, coll.Allgather, p, ops())
		if err = errors.Join(err, err2); err != nil {
			return err
		}
		call := func() progress.Handle { return c.Icollective(ctx, coll.Allgather, p, ops()) }
		var made progress.Handle
		if c.Rank == 0 {
			made = call()
			cancel()
			if err := again(h); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("the start gives %w", err)
			}
		} else {
			var told *cause.CallError
			if err := again(other); !errors.As(err, &told) || told.Rank != 0 {
				return fmt.Errorf("the start of the other one gives %w", err)
			}
			made = call()
		}
		later := call()
		_, err = progress.WaitResult(&made)
		_, behind := progress.WaitResult(&later)
		if err != nil || behind == nil || again(h) == nil || again(other) == nil {
			return fmt.Errorf("rank %d: the call before it gives %w, the one behind it %v, or a start goes well", c.Rank, err, behind)
		}
		return nil
	}))
}

// The failure of another call ends a persistent one that was made before it.
func TestAFailureEndsEarlierPersistentCalls(t *testing.T) {
	noErrors(t, eachOrNone(engines(t, 2), func(ctx context.Context, in *Instance) error {
		c, p := in.World, all(in.World.Rank, 2, 1)
		o := Operands{In: words(1, 1), Out: make([]byte, 16), Elem: 8}
		h, err := c.Persist(ctx, coll.Allgather, p, &o)
		if err != nil {
			return err
		}
		if c.Rank == 1 {
			var told *cause.CallError
			err := progress.Restart(h)
			for c.Broken() == nil && err == nil {
				in.Loop.Glance(func() bool { return false })
				err = ctx.Err()
			}
			if ended, _, _ := progress.Peek(h); err != nil || !ended {
				return fmt.Errorf("the start has ended: %t, %w", ended, err)
			}
			if _, err := progress.WaitResult(&h); !errors.As(err, &told) || told.Rank != 0 {
				return fmt.Errorf("the start gives %w", err)
			}
			return nil
		}
		until, cancel := context.WithCancel(ctx)
		cancel()
		if err := c.Collective(until, coll.Allgather, p, &o); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the call gives %w", err)
		}
		return nil
	}))
}

// A request at rest keeps the context of its communicator, which is over when the request
// is freed.
func TestAPersistentCallKeepsItsContext(t *testing.T) {
	noErrors(t, eachOrNone(engines(t, 2), func(ctx context.Context, in *Instance) error {
		c, err := in.World.Dup(ctx)
		if err != nil {
			return err
		}
		o := Operands{In: words(1, 7), Out: make([]byte, 16), Elem: 8}
		h, err := c.Persist(ctx, coll.Allgather, all(c.Rank, 2, 1), &o)
		if err != nil {
			return err
		}
		c.Free()
		for range 3 {
			clear(o.Out)
			for rank := range 2 { // the message of rank 0 comes before rank 1 wants it
				if c.Rank == rank {
					err = progress.Restart(h)
				}
				if err := errors.Join(err, in.World.Barrier(ctx, false)); err != nil {
					return err
				}
			}
			if ended, _, _ := progress.Peek(h); !ended || !bytes.Equal(o.Out, words(2, 7)) {
				return fmt.Errorf("rank %d has %v, at the end: %t", c.Rank, o.Out, ended)
			}
			if _, err := progress.WaitResult(&h); err != nil {
				return err
			}
		}
		if _, err := progress.Release(&h); err != nil || in.running[c.ID] != nil {
			return fmt.Errorf("the context is kept, or %w", err)
		}
		return nil
	}))
}
