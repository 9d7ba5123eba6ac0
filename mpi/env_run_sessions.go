package mpi

import (
	"context"
	"errors"

	"github.com/weft-mpi/weft/internal/launch"
)

// RunSessions calls f on every rank of a job, for programs that use sessions and no
// World, so that one program runs with a launcher and without. NewSession with the
// context that f is given, or one derived from it, makes a session of f's rank;
// sessions may end and be made again until f returns. Those that f has not finalized
// are finalized by RunSessions. The context does not end. Errors are those of Run.
// Non-local.
//
// What Run says of launchers, of n, of errors and of ranks that fail holds here too.
// In a launched process, whose rank NewSession finds with any context, RunSessions
// may be called again, and beside Init.
func RunSessions(n int, f func(ctx context.Context) error, opts ...Option) error {
	const call = "RunSessions"
	if f == nil {
		return badArg(call, ErrArg, "the function is nil: give what each rank is to do")
	}
	o := makeOptions(opts)
	launched, err := launch.Launched()
	switch {
	case err != nil:
		return fail(call, err)
	case launched:
		return runSessionsLaunched(call, n, f, o)
	}
	ranks, err := ranksOf(call, n, o)
	if err != nil {
		return fail(call, err)
	}
	for _, in := range ranks {
		in.pins++ // before anything else uses it
	}
	// A rank that has returned stays until all have: what it has sent is on its way.
	err = ranks[0].crew.run(call, func(i int) error {
		return errors.Join(f(ranks[i].context()), ranks[i].finishSessions())
	})
	for _, in := range ranks {
		in.unpin()
	}
	return err
}

// context is the one that makes NewSession find the rank.
func (in *instance) context() context.Context {
	return context.WithValue(context.Background(), rankKey{}, in)
}

func runSessionsLaunched(call string, n int, f func(context.Context) error, o options) error {
	var in *instance
	err := takePart(call, n, o, func(here *instance) error {
		in = here
		return in.pin()
	})
	if err != nil {
		return err
	}
	return in.perform(func() error { return f(in.context()) }, func() error {
		return errors.Join(in.finishSessions(), in.unpin())
	})
}
