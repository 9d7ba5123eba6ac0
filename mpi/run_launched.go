package mpi

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/job"
)

// runLaunched is Run in a process that a launcher has started.
func runLaunched(n int, f func(*World) error, o options) error {
	w, err := takePart(n, o)
	if err != nil {
		return err
	}
	if err := w.perform(f); err != nil {
		return fmt.Errorf("rank %d: %w", w.comm.rank, err)
	}
	return nil
}

// takePart is Init for a Run of n ranks.
func takePart(n int, o options) (*World, error) {
	if err := job.Check(o.fabric); err != nil {
		return nil, fail("Run", err)
	}
	ctx := context.Background()
	j, err := boot.Discover(ctx)
	if errors.Is(err, boot.ErrDiscovered) {
		err = fmt.Errorf("a launcher has started this process, which takes part in its job once and has done so by an earlier Init or Run: do all of the work in that one, or set WEFT_BOOT=none for ranks that are goroutines (%w)", err)
	}
	if err != nil {
		return nil, fail("Run", err)
	}
	if n != 0 && n != j.Size {
		err := badArg("Run", ErrArg, "the program asks for %d ranks and the launcher has started %d: start as many as it asks for, or call Run with 0, which takes as many as there are",
			n, j.Size)
		return nil, errors.Join(err, j.Close())
	}
	w, err := join(ctx, j, o)
	if err != nil {
		return nil, fail("Init", errors.Join(err, j.Close()))
	}
	return w, nil
}

// perform calls f and ends the membership. After an error the job is not left in
// order, so that the launcher counts the rank as failed, as the others do.
func (w *World) perform(f func(*World) error) (err error) {
	err = errGoexit
	var wg sync.WaitGroup
	wg.Go(func() { err = f(w) })
	wg.Wait()
	if err == nil && !w.engine.Ended() {
		err = w.Finalize()
	}
	if err != nil {
		w.abandon()
	}
	return err
}
