package mpi

import (
	"context"
	"fmt"
	"sync"

	"github.com/weft-mpi/weft/mpi/cause"
)

// runLaunched is Run in a process that a launcher has started.
func runLaunched(n int, f func(*World) error, o options) error {
	var w *World
	err := takePart("Run", n, o, func(in *instance) (err error) {
		if w, err = in.newWorld(nil); err == errTaken {
			err = errUsed("do all of the work in that one, or set WEFT_BOOT=none for ranks that are goroutines")
		}
		return err
	})
	if err != nil {
		return err
	}
	return w.perform(func() error { return f(w) }, w.finish)
}

// takePart calls use with the part in the job of a process that a launcher has
// started, if that has n ranks. The error is that of the call.
func takePart(call string, n int, o options, use func(*instance) error) error {
	o.size = func(size int) error {
		if n == 0 || n == size {
			return nil
		}
		return badArg(call, ErrArg, "the program asks for %d ranks and the launcher has started %d: start as many as it asks for, or call %s with 0, which takes as many as there are", n, size, call)
	}
	err := atHome(context.Background(), call, o, func(in *instance) error {
		if err := o.size(in.engine.World.Size); err != nil {
			return err
		}
		return use(in)
	})
	if err == cause.ErrDiscovered {
		err = errUsed("do all of the work in that one, or set WEFT_BOOT=none for ranks that are goroutines")
	}
	return fail(call, err)
}

// perform calls f, and then finish to end what f has not. After an error the job is
// not left in order, so that the launcher counts the rank as failed, as the others do.
func (in *instance) perform(f, finish func() error) error {
	err := errGoexit
	var wg sync.WaitGroup
	wg.Go(func() { err = f() })
	wg.Wait()
	if err == nil {
		err = finish()
	}
	if err != nil {
		in.abandon()
		return fmt.Errorf("rank %d: %w", in.engine.World.Rank, err)
	}
	return nil
}
