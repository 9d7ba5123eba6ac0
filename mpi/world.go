package mpi

import (
	"context"
	"errors"
	"log/slog"

	"golang.org/x/sys/unix"

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
	self   *Comm    // see Self
	comms  registry // those that are not freed
	crew   *crew    // of ranks that are goroutines, else nil
	thread int      // the OS thread that made it
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
	cfg.Classify = func(err error) int { return int(classOf(err)) }
	w := &World{fabric: routes.Fabric, engine: comm.New(cfg), log: o.log, logs: o.logs, thread: unix.Gettid()}
	w.engine.Loop.Own(w)
	w.comm, w.self = newComm(w, w.engine.World, nil), newComm(w, w.engine.Self, nil)
	w.comms.add(w.comm)
	w.comms.add(w.self)
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

// Self is the communicator of this rank alone (MPI_COMM_SELF, MPI-4.0 §7.2.4), or
// nil if w is nil. Its error handler sees the errors of calls that have no
// communicator. Its attributes are deleted by Finalize. Local.
func (w *World) Self() *Comm {
	if w == nil || w.self == nil {
		return nil
	}
	w.self.core.Announce()
	return w.self
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
		return w.ended(call)
	}
	return nil
}

// ended is the error of a call on a World that has ended.
func (w *World) ended(call string) error {
	if abort := w.aborted(); abort != nil {
		return fail(call, abort)
	}
	return badArg(call, ErrComm, "the World has been finalized")
}

// Finalize ends the membership (MPI_Finalize, MPI-4.0 §11.2.2). It is
// collective: it blocks until every rank has called it. First it deletes the
// attributes of Self, the last one first, while every call still works (§11.2.4);
// an error of a delete function is returned. All operations must have been
// completed; others fail with ErrComm, or with ErrProcFailed if the other rank left
// first. Afterwards every call on the World fails with ErrComm. Finalize releases everything even if it fails, because of a dead rank say:
// ranks still waiting in it then count this one as dead. Non-local.
func (w *World) Finalize() error {
	const call = "Finalize"
	if err := w.check(call); err != nil {
		return err
	}
	left := w.self.st.clear(w.self)
	if left == errGoing { // the first Finalize reports it
		left = nil
	}
	err := w.comm.core.Barrier(w.comm.ctx, true)
	if !w.end() {
		return w.ended(call)
	}
	w.noReports()
	err = errors.Join(left, err, w.engine.Close())
	if w.job != nil {
		err = errors.Join(err, w.job.Close())
	}
	w.logs.Flush()
	return fail(call, w.comm.cause(err))
}

// mourn passes the launcher's reports of deaths to the engine, until the job is
// closed.
func (w *World) mourn(news <-chan boot.Event) {
	for e := range news {
		w.engine.Lost(e.Rank, e.Err)
	}
}
