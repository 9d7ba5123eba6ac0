package comm

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/coll"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// An abort in a communicator that has been freed is not kept: its id may be another
// one's some day.
func TestAnAbortInAFreedCommunicatorIsForgotten(t *testing.T) {
	ranks := engines(t, 2)
	noErrors(t, each(ranks, func(ctx context.Context, in *Instance) error {
		d, err := in.World.Dup(ctx)
		if err != nil {
			return err
		}
		d.Free()
		in.Loop.Exclusive(func() {
			h := wire.MakeAbort(make([]byte, wire.AbortSize), 16, 3)
			aborts{in}.Deliver(1, wire.Abort, uint64(d.Library()), h, []byte("no"))
		})
		if n := len(in.early); n != 0 {
			return fmt.Errorf("%d aborts are kept", n)
		}
		return nil
	}))
}

// A call that fails fails at all ranks, though its rank has begun a later one
// meanwhile.
func TestAFailureIsThatOfItsCall(t *testing.T) {
	const size = 3
	failure := errors.New("there is no result")
	for rank, err := range each(engines(t, size), func(ctx context.Context, in *Instance) error {
		c := in.World
		o := Operands{In: words(1, 1), Out: make([]byte, 8), Elem: 8, Combine: digits}
		if c.Rank == 1 {
			o.User, o.Combine = true, func(a, b, to []byte) {
				later := Operands{In: words(1, 1), Out: make([]byte, 8*size), Elem: 8}
				c.Icollective(ctx, coll.Allgather, all(c.Rank, size, 1), &later)
				panic(failure)
			}
		}
		return c.Collective(ctx, coll.Allreduce, chain(c.Rank, size, 1), &o)
	}) {
		var told *CallError
		if rank == 1 && !errors.Is(err, failure) || rank != 1 && !errors.As(err, &told) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Ranks that fail in different calls tell of it in any order: the calls from the
// earliest on end.
func TestTheEarliestFailureCounts(t *testing.T) {
	in := engines(t, 2)[0]
	c := in.World
	var hs []progress.Handle
	for range 3 {
		o := Operands{In: words(1, 1), Out: make([]byte, 16), Elem: 8}
		hs = append(hs, c.Icollective(t.Context(), coll.Allgather, all(0, 2, 1), &o))
	}
	ended := func() (n int) {
		for _, h := range hs {
			if ended, _, _ := progress.Peek(h); ended {
				n++
			}
		}
		return n
	}
	for _, step := range []struct {
		seq  uint32
		want int
	}{{3, 1}, {2, 2}, {3, 2}, {1, 3}} {
		in.Loop.Exclusive(func() {
			c.breakFrom(step.seq, &CallError{Rank: 1, Text: "no"})
		})
		if n := ended(); n != step.want {
			t.Errorf("%d calls have ended behind a failure in call %d, want %d", n, step.seq, step.want)
		}
	}
}
