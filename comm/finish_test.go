package comm

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/weft-mpi/weft/coll"
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
