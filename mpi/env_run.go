package mpi

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/transports"
	"github.com/weft-mpi/weft/progress"
)

// maxRun bounds the ranks of one process: they have n² queues between them.
const maxRun = 1024

// errGoexit is the error of a rank whose function did not return but ended its
// goroutine, as FailNow of package testing does.
var errGoexit = errors.New("its function has ended the goroutine (runtime.Goexit) instead of returning")

// Run calls f on every rank of a job, with the rank's World, so that one program
// runs with a launcher and without. A World that f has not finalized is finalized
// by Run, and so are its sessions. Non-local.
//
// In a process that a launcher has started (weft run, mpiexec) the job is the
// launched one: Run does as Init, calls f once, in a goroutine of its own, and
// returns this rank's error. n is the number of ranks of that job, or 0 for any
// number; if it is another number, Run fails with ErrArg on that rank. A process
// has one World in a launched job: after an Init or a Run, Run fails with an
// error that is ErrDiscovered, and never makes ranks that were not
// launched. With WEFT_BOOT=none Run ignores the launcher.
//
// Without a launcher the ranks are n goroutines of this process, at most 1024; 0
// stands for runtime.GOMAXPROCS(0). Run blocks until f has returned on all of
// them, and joins their errors.
//
// After World.Abort Run returns an AbortError once f has returned on all ranks, and
// no errors that come from the abort.
//
// A rank that fails, in f or in Finalize, or whose goroutine ends inside f,
// counts as dead to the others from then on, so that they fail too instead of
// waiting for it. Its World is released when Run returns. A launched rank whose
// f has failed does not leave the job in order: weft run counts it as failed
// even if its process exits with code 0.
func Run(n int, f func(*World) error, opts ...Option) error {
	if f == nil {
		return badArg("Run", ErrArg, "the function is nil: give what each rank is to do")
	}
	o := makeOptions(opts)
	launched, err := launch.Launched()
	switch {
	case err != nil:
		return fail("Run", err)
	case launched:
		return runLaunched(n, f, o)
	}
	return runGoroutines(n, f, o)
}

// runGoroutines is Run without a launcher.
func runGoroutines(n int, f func(*World) error, o options) error {
	ranks, err := ranksOf("Run", n, o)
	if err != nil {
		return fail("Run", err)
	}
	made := make([]*World, len(ranks))
	defer unlist(true, made...) // also those before an error
	for i, in := range ranks {
		if made[i], err = in.newWorld(nil); err != nil {
			return fail("Run", err)
		}
	}
	return ranks[0].crew.run("Run", func(i int) error {
		w := made[i]
		w.isGoroutine()
		err := f(w)
		if err == nil {
			err = w.finish()
		}
		return err
	})
}

// finish ends what the program has not.
func (w *World) finish() (err error) {
	if !w.over() {
		err = w.Finalize()
	}
	return errors.Join(err, w.finishSessions())
}

// finishSessions finalizes the sessions that the program has not.
func (in *instance) finishSessions() (err error) {
	for _, s := range in.sessions() {
		err = errors.Join(err, s.Finalize())
	}
	return err
}

// run calls f with the number of each rank, on a goroutine for each, and returns when
// all have returned. A rank that fails counts as dead to the others.
func (g *crew) run(call string, f func(rank int) error) error {
	defer crews.Add(-1)
	errs := make([]error, len(g.ranks))
	var wg sync.WaitGroup
	for i := range g.ranks {
		wg.Go(func() {
			returned := false
			defer func() {
				if !returned {
					errs[i] = fmt.Errorf("rank %d: %w", i, errGoexit)
					wg.Go(func() { g.bury(i) }) // a panic must not wait for it
				}
			}()
			err := f(i)
			returned = true
			if err != nil {
				errs[i] = fmt.Errorf("rank %d: %w", i, err)
				g.bury(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(g.outcome(call, errs)...)
}

// bury tells the others that a rank has failed, and releases its part in the job.
// After an Abort that is done already, and the failure is no news.
func (g *crew) bury(rank int) {
	if g.abort.Load() != nil {
		return
	}
	g.ranks[rank].engine.Die()
	for k, in := range g.ranks {
		if k != rank {
			in.engine.Fail(rank)
		}
	}
	g.ranks[rank].abandon()
}

// ranksOf makes n ranks that are goroutines.
func ranksOf(call string, n int, o options) ([]*instance, error) {
	if n == 0 {
		n = min(runtime.GOMAXPROCS(0), maxRun)
	}
	if n < 1 || n > maxRun {
		return nil, badArg(call, ErrArg, "%d ranks: a process runs 1 to %d, or 0 for as many as it has processors", n, maxRun)
	}
	if err := checkEnvironment(); err != nil {
		return nil, err
	}
	if err := errors.Join(o.checkLimits(call), o.lookUpChecks(), o.lookUpPeek(), o.lookUpTrace()); err != nil {
		return nil, err
	}
	if err := o.checkTrace(call); err != nil {
		return nil, err
	}
	routes, err := transports.Goroutines(n, o.fabric, transports.Settings{Log: o.log, Unattended: o.noThread})
	if err != nil {
		return nil, err
	}
	crews.Add(1)
	g := &crew{ended: make(chan struct{})}
	g.id, g.key = newCrewID()
	for i, r := range routes {
		in := newInstance(r, comm.Config{
			Rank:     i,
			Progress: progress.Config{Oversubscribed: n > runtime.GOMAXPROCS(0), Ranks: n},
			Informed: true, // by bury
		}, o)
		in.crew = g
		in.listen(o, g.id, g.key, nil)
		g.ranks = append(g.ranks, in)
	}
	return g.ranks, nil
}
