package mpi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/peek"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/transports"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// instance is a rank's part in its job, which its World and its Sessions share. The
// first of them makes it, and the last gives it back. A launched process can join its
// job once, so one that has had a Session keeps its part until it exits: the last
// Finalize only tells the launcher that the process may.
type instance struct {
	job    *launch.Job // nil for ranks that are goroutines
	asked  string      // the fabric that the first has asked for
	fabric string
	hosts  []string // by rank
	engine *comm.Instance
	checks bool     // ranks compare their collective calls
	apart  bool     // windows have separate memory, unless the program says otherwise
	comms  registry // those that are not freed
	crew   *crew    // of ranks that are goroutines, else nil
	log    *slog.Logger
	logs   *diagnose.LogQueue
	dog    *diagnose.Watchdog
	peek   *peek.Server // nil without one
	noQuit func()       // ends the report at a SIGQUIT, nil without one
	trace  *tracing     // nil without one

	mu    sync.Mutex
	open  map[*World]struct{} // that use it
	world bool                // there has been the World of Init or Run
	keeps bool                // there has been a Session in a launched process
	pins  int                 // RunSessions under way
	rests bool                // the launcher knows that the process may exit
	over  bool                // it has been given back, or is about to be
}

// here is the part of this process in its job. Ranks that are goroutines have theirs
// from Run. The lock is held while the ranks of a job find one another.
var here struct {
	sync.Mutex
	in *instance
}

// errOver is the error of use of an instance that has been given back, errTaken that
// of a second World.
var (
	errOver  = errors.New("the rank has left its job")
	errTaken = errors.New("the rank has had its World")
)

// atHome calls use with the part of this process in its job, which it makes if there
// is none.
func atHome(ctx context.Context, call string, o options, use func(*instance) error) error {
	here.Lock()
	defer here.Unlock()
	if in := here.in; in != nil {
		if err := in.fits(call, o); err != nil {
			return err
		}
		if err := use(in); err != errOver {
			return err
		}
	}
	in, err := arrive(ctx, call, o)
	if err != nil {
		return err
	}
	here.in = in
	return use(in)
}

// arrive joins the job that this process was started in.
func arrive(ctx context.Context, call string, o options) (*instance, error) {
	if err := checkEnvironment(); err != nil {
		return nil, err
	}
	if err := transports.Check(o.fabric); err != nil {
		return nil, err
	}
	j, err := launch.Discover(ctx)
	if err != nil {
		return nil, err
	}
	if o.size != nil {
		err = o.size(j.Size)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close()) // so that others, who exchange addresses, do not wait
	}
	in, err := join(ctx, call, j, o)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return in, nil
}

// join makes the part of a launched rank. The job is the instance's, unless there is
// an error. call is the one that the program has made.
func join(ctx context.Context, call string, j *launch.Job, o options) (*instance, error) {
	if err := errors.Join(o.checkLimits(call), o.lookUpChecks(), o.lookUpPeek(), o.lookUpTrace()); err != nil {
		return nil, err
	}
	if j.Rank == 0 {
		if err := o.checkTrace(call); err != nil {
			return nil, err
		}
	}
	routes, err := transports.Join(ctx, j, o.fabric, transports.Settings{Log: o.log, Unattended: o.noThread})
	if err != nil {
		return nil, err
	}
	in := newInstance(routes, comm.Config{
		Rank:     j.Rank,
		Progress: progress.Config{Oversubscribed: j.Oversubscribed()},
		Informed: j.Launcher == launch.LauncherWeft,
	}, o)
	in.job = j
	ownJob.Store(j)
	go in.mourn(j.Events())
	in.listen(o, j.ID, j.Key, j.LocalRanks)
	if !o.noSignal {
		in.noQuit = diagnose.OnQuit(func() { in.report(os.Stderr) })
	}
	return in, nil
}

// newInstance starts the engine. The domains of routes are the instance's.
func newInstance(routes *transports.Routes, cfg comm.Config, o options) *instance {
	p := &cfg.Progress
	p.Domain, p.More, p.Via, p.Addrs = routes.Domains[0], routes.Domains[1:], routes.Via, routes.Addrs
	p.Log, p.NoThread, p.Late = o.log, o.noThread, o.late.Start
	p.Locked, cfg.Unexpected = o.locked, o.late.Unexpected
	trace := o.newTracing(len(routes.Addrs))
	if trace != nil {
		p.Timeline = trace.log
	}
	cfg.Limits = pt2pt.Limits(o.limits)
	if routes.Fabric != "mem" {
		cfg.Alloc = transports.Alloc // else the words are Go's, where the race detector sees what they order
	}
	cfg.Operator, cfg.Beat, cfg.Check = numbered, o.beat, o.checks
	if o.signs {
		cfg.Header = signature
	}
	cfg.Classify = func(err error) int { return int(classOf(err)) }
	in := &instance{asked: o.fabric, fabric: routes.Fabric, hosts: routes.Hosts,
		checks: o.checks, apart: o.separate, log: o.log, logs: o.logs, trace: trace, open: map[*World]struct{}{}}
	cfg.Named = func(context uint32) string { return in.comms.get(context).Name() }
	in.engine = comm.New(cfg)
	in.engine.Loop.Own(in)
	in.startWatchdog(o.watch, o.watchTo)
	return in
}

// fits returns an error if options ask for another fabric than the instance has.
func (in *instance) fits(call string, o options) error {
	if o.fabric == "auto" || o.fabric == in.asked || o.fabric == in.fabric {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over {
		return nil // the next one may have it
	}
	return badArg(call, ErrArg, "the fabric %s is asked for, and the rank uses %s: its World and its Sessions share one, which the first of them chooses", o.fabric, in.fabric)
}

// launched reports whether a launcher has started the rank's process.
func (in *instance) launched() bool {
	return in.job != nil && in.job.Launcher != launch.LauncherNone
}

// enter makes w one of those that use the instance.
func (in *instance) enter(w *World) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.over:
		return errOver
	case w.session == nil && in.world:
		return errTaken
	}
	if err := in.resume(); err != nil {
		return err
	}
	if w.session == nil {
		in.world = true
	} else if in.launched() {
		in.keeps = true
	}
	in.open[w] = struct{}{}
	return nil
}

// pin keeps the instance of a launched process for sessions, until unpin.
func (in *instance) pin() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over {
		return errOver
	}
	if err := in.resume(); err != nil {
		return err
	}
	in.keeps = in.keeps || in.launched()
	in.pins++
	return nil
}

// resume tells the launcher that the process may not exit any more. The caller has
// the lock.
func (in *instance) resume() error {
	if !in.rests {
		return nil
	}
	if err := in.job.Resume(); err != nil {
		return err
	}
	in.rests = false
	in.engine.Back()
	return nil
}

// unpin undoes pin.
func (in *instance) unpin() error {
	_, err := in.leave(func() bool { in.pins--; return true }, func() {})
	return err
}

// settleTime bounds how long the last Finalize of a process that keeps its part waits
// for ranks that make no progress.
const settleTime = 2 * time.Second

// leave ends a use of the instance, unless end returns false, and gives the instance
// back behind the last. If it stays, finish ends what the use has under way.
func (in *instance) leave(end func() bool, finish func()) (first bool, err error) {
	in.mu.Lock()
	if !end() {
		in.mu.Unlock()
		return false, nil
	}
	unused, keeps := len(in.open) == 0 && in.pins == 0 && !in.over, in.keeps
	in.over = in.over || unused && !keeps
	in.mu.Unlock()
	if unused && !keeps {
		in.engine.End()
		return true, in.release(true)
	}
	finish()
	if unused {
		err = in.rest()
	}
	return true, err
}

// rest tells the launcher that the process may exit, once the other ranks have all
// that it has sent.
func (in *instance) rest() error {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	in.engine.Settle(ctx, true) // what does not reply is not waited for
	in.peek.Farewell()
	in.leaveTrace()
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.rests || in.over:
		return nil
	case len(in.open) > 0 || in.pins > 0: // another use has begun meanwhile
		in.engine.Back()
		return nil
	}
	in.rests = true
	return in.job.Rest()
}

// abandon ends all that use the instance, and gives it back, without the other ranks.
func (in *instance) abandon() {
	if in.endAll() {
		in.release(false)
	}
}

// endAll makes every further call of the rank fail, and reports whether the caller is
// the one to release the instance.
func (in *instance) endAll() (first bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.engine.End() // first: who finds a World over finds its communicators over
	for w := range in.open {
		w.mark()
	}
	clear(in.open)
	first, in.over = !in.over, true
	return first
}

// release gives back what an ended instance has. Only in order does it leave the job.
func (in *instance) release(inOrder bool) error {
	in.noReports()
	in.peek.Farewell()
	in.peek.Close()
	err := in.engine.Close()
	in.leaveTrace() // operations that had not completed have now, and are in it
	if in.job != nil && inOrder {
		err = errors.Join(err, in.job.Close())
	}
	in.logs.Flush()
	return err
}

// sessions are the sessions that are open.
func (in *instance) sessions() (all []*Session) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for w := range in.open {
		if w.session != nil {
			all = append(all, w.session)
		}
	}
	return all
}

// mourn passes the launcher's reports of deaths to the engine, until the job is
// closed.
func (in *instance) mourn(news <-chan launch.Event) {
	for e := range news {
		in.engine.Lost(e.Rank, e.Err)
	}
}

// errUsed is the error of a call that has found the process's part in its job used up.
func errUsed(remedy string) error {
	return fmt.Errorf("a launcher has started this process, which takes part in its job once and has done so by an earlier Init, Run or RunSessions: %s (%w)", remedy, cause.ErrDiscovered)
}
