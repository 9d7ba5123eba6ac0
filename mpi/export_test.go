package mpi

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/fabric"
)

// Join is Init for tests that make one World after another in one job. The job
// stays the caller's.
func Join(ctx context.Context, job *boot.Job, opts ...Option) (*World, error) {
	w, err := join(ctx, job, makeOptions(append(opts, WithoutSIGQUIT())))
	if err == nil {
		w.job = nil
	}
	return w, err
}

// End finalizes the World as Run does: one whose rank has failed dies.
func End(w *World, err error) error {
	if err == nil && !w.engine.Ended() {
		err = w.Finalize()
	}
	if err != nil {
		w.abandon()
	}
	return err
}

// GetMinOf is from how many bytes on messages are read from their sender's memory.
func GetMinOf(w *World) int { return w.engine.Loop.Via(0).Caps().RndvMin }

// TransportOf is the transport that another rank of the World is reached over.
func TransportOf(c *Comm, rank int) (name string) {
	l := c.w.engine.Loop
	l.Exclusive(func() { name = l.TransportOf(fabric.Peer(rank)) })
	return name
}

// Classes lists all classes of errors.
func Classes() []Class {
	all := slices.Collect(maps.Keys(classNames))
	return slices.Sorted(slices.Values(slices.AppendSeq(all, maps.Keys(furtherNames))))
}

// ClassesOf lists those that an error is of.
func ClassesOf(err error) (cs []Class) {
	for _, c := range Classes() {
		if errors.Is(err, c) {
			cs = append(cs, c)
		}
	}
	return cs
}

// KeptFreed is how many freed communicators with a handler stay known.
const KeptFreed = keptFreed

// Known is the number of communicators that the World knows for their requests.
func Known(w *World) int {
	w.comms.mu.Lock()
	defer w.comms.mu.Unlock()
	return len(w.comms.of)
}
