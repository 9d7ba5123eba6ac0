package mpi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/comm"
	"github.com/weft-mpi/weft/job"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/pt2pt"
	"github.com/weft-mpi/weft/report"
)

// World is a rank's membership in its job (MPI-4.0 §11.2): from Init or Run to
// Finalize. It is safe for concurrent use.
type World struct {
	job    *boot.Job // nil for ranks that are goroutines
	fabric string
	engine *comm.Instance
	comm   *Comm
	log    *slog.Logger
	logs   *report.Aside
	dog    *report.Watchdog
	noQuit func() // ends the report at a SIGQUIT, nil without one
}

// Init finds the job this process was started in and connects to it (MPI_Init,
// MPI-4.0 §11.2.1). It is collective and blocks until all ranks have called it
// or ctx ends. Without a launcher the World has one rank. If the environment
// describes several ranks and they can't be found, Init fails with an error that
// says what to do. If the fabric can't be used, it fails with ErrUnsupported.
// Non-local.
func Init(ctx context.Context, opts ...Option) (*World, error) {
	if ctx == nil {
		return nil, badArg("Init", ErrArg, "the context is nil: give context.Background()")
	}
	w, err := initWorld(ctx, makeOptions(opts))
	if err != nil {
		return nil, fail("Init", err)
	}
	return w, nil
}

func initWorld(ctx context.Context, o options) (*World, error) {
	if err := job.Check(o.fabric); err != nil {
		return nil, err
	}
	j, err := boot.Discover(ctx)
	if err != nil {
		return nil, err
	}
	w, err := join(ctx, j, o)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return w, nil
}

// join makes the World of a launched rank. The job is the World's, unless there is
// an error.
func join(ctx context.Context, j *boot.Job, o options) (*World, error) {
	routes, err := job.Join(ctx, j, o.fabric, job.Settings{Log: o.log, Unattended: o.noThread})
	if err != nil {
		return nil, err
	}
	w := newWorld(routes, comm.Config{
		Rank:     j.Rank,
		Progress: progress.Config{Oversubscribed: j.Oversubscribed()},
		Informed: j.Launcher == boot.LauncherWeft,
	}, o)
	w.job = j
	go w.mourn(j.Events())
	if !o.noSignal {
		w.reportOnQuit()
	}
	return w, nil
}

// newWorld starts the engine. The domains of routes are the World's.
func newWorld(routes *job.Routes, cfg comm.Config, o options) *World {
	p := &cfg.Progress
	p.Domain, p.More, p.Via, p.Addrs = routes.Domains[0], routes.Domains[1:], routes.Via, routes.Addrs
	p.Log, p.NoThread = o.log, o.noThread
	cfg.Limits = pt2pt.Limits(o.limits)
	w := &World{fabric: routes.Fabric, engine: comm.New(cfg), log: o.log, logs: o.logs}
	w.comm = newComm(w, w.engine.World, nil)
	begin()
	w.startWatchdog(o.watch, o.watchTo)
	return w
}

// Comm is the communicator of all ranks (MPI_COMM_WORLD, MPI-4.0 §7.2.4), or nil if
// w is nil. Local.
func (w *World) Comm() *Comm {
	if w == nil {
		return nil
	}
	return w.comm
}

// Fabric is the name of the transport in use, or of all joined by +, or "" if w
// is nil. Local.
func (w *World) Fabric() string {
	if w == nil {
		return ""
	}
	return w.fabric
}

// check returns an error if the World can't be used any more.
func (w *World) check(call string) error {
	if w == nil || w.comm == nil {
		return badArg(call, ErrComm, "the World is nil: take what Init has returned, or what Run has given")
	}
	if w.engine.Ended() {
		return badArg(call, ErrComm, "the World has been finalized")
	}
	return nil
}

// Finalize ends the membership (MPI_Finalize, MPI-4.0 §11.2.2). It is
// collective: it blocks until every rank has called it. All operations must have
// been completed; others fail with ErrComm, or with ErrProcFailed if the other
// rank left first. Afterwards every call on the World fails with ErrComm.
// Finalize releases everything even if it fails, because of a dead rank say:
// ranks still waiting in it then count this one as dead. Non-local.
func (w *World) Finalize() error {
	const call = "Finalize"
	if err := w.check(call); err != nil {
		return err
	}
	err := w.comm.core.Barrier(w.comm.ctx, true)
	if !w.end() {
		return w.comm.explain(call, 0, 0, false)
	}
	w.noReports()
	err = errors.Join(err, w.engine.Close())
	if w.job != nil {
		err = errors.Join(err, w.job.Close())
	}
	w.logs.Flush()
	return fail(call, err)
}

// mourn passes the launcher's reports of deaths to the engine, until the job is
// closed.
func (w *World) mourn(news <-chan boot.Event) {
	for e := range news {
		w.engine.Lost(e.Rank, e.Err)
	}
}

// Abort ends all ranks of the job with the exit code code, 0 to 255, whatever
// they are doing (MPI_Abort, MPI-4.0 §11.4.2). Under weft run, and under a
// launcher that speaks PMI-1, the launcher ends them and exits with the code.
// Otherwise, and for ranks that are goroutines, this process exits. Abort does
// not return. Local.
func (w *World) Abort(code int) {
	if w != nil && w.job != nil {
		why := fmt.Sprintf("rank %d called Abort(%d)", w.comm.rank, code)
		if err := w.job.Abort(code, why); err == nil && w.job.Launcher != boot.LauncherNone {
			time.Sleep(abortTime) // for the launcher's signal, so that its code counts
		}
	}
	os.Exit(code)
}

// abortTime is how long a rank that aborts waits for the launcher to end it.
const abortTime = 5 * time.Second
