package comm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/weft-mpi/weft/internal/coll"
)

// A blocking collective call that begins as its communicator ends does not wait for
// ranks that have none.
func TestACallThatBeginsAsItsCommunicatorEndsFails(t *testing.T) {
	over := errors.New("it is over")
	const rounds = 2000
	noErrors(t, each(engines(t, 2), func(ctx context.Context, in *Instance) error {
		for i := range rounds {
			d, err := in.World.Dup(ctx)
			if err != nil {
				return err
			}
			if in.World.Rank == 1 {
				d.Finish(over)
				continue
			}
			ended := make(chan error, 1)
			begins := make(chan bool)
			go func() {
				close(begins)
				if i%2 == 0 {
					ended <- d.Barrier(ctx, false)
				} else {
					ended <- d.Collective(ctx, coll.Bcast, d.Plan(&PlanKey{Call: coll.Bcast, Elem: 1, Count: 1, Root: 1}), &Operands{In: make([]byte, 1), Out: make([]byte, 1), Elem: 1})
				}
			}()
			<-begins
			for range i % 64 {
				runtime.Gosched()
			}
			d.Finish(over)
			if err := <-ended; err == nil {
				return errors.New("a call of one rank has succeeded")
			}
		}
		return nil
	}))
}

// A barrier that sleeps ends with its communicator: no bell announces that, and no other
// rank sends anything.
func TestABarrierThatSleepsEndsWithItsCommunicator(t *testing.T) {
	over, slept := errors.New("it is over"), make(chan bool)
	noErrors(t, each(engines(t, 2), func(ctx context.Context, in *Instance) error {
		d, err := in.World.Dup(ctx)
		for range 3 { // the last one by flags
			err = errors.Join(err, d.Barrier(ctx, false))
		}
		if in.World.Rank == 1 {
			<-slept
			return err
		}
		defer close(slept)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, patience/10)
		defer cancel()
		parks := in.Loop.Snapshot()
		ended := make(chan error, 1)
		go func() { ended <- d.Barrier(ctx, false) }()
		for last, same := uint64(0), 0; same < 1000; runtime.Gosched() { // the thread sleeps too
			now := in.Loop.Snapshot()
			looks := now.Value("weft_polls_total", "false")
			if same++; now.Value("weft_parks_total") == parks.Value("weft_parks_total") || looks != last {
				last, same = looks, 0
			}
		}
		d.Finish(over)
		if err := <-ended; !errors.Is(err, over) || ctx.Err() != nil {
			return fmt.Errorf("the barrier of one rank: %w, %w", err, ctx.Err())
		}
		return nil
	}))
}
