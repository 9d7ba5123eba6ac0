package mpi

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/hardware"
	"github.com/weft-mpi/weft/mpi/cause"
)

// World is a rank's membership in its job (MPI-4.0 §11.2): from Init or Run to
// Finalize. It is safe for concurrent use.
type World struct {
	*instance
	session *Session // whose communicators these are; nil: those of Init or Run
	comm    *Comm
	self    *Comm // see Self
	thread  int   // the OS thread that made it

	goroutine string // that is its rank, under the lock of worlds; "": any of the process

	life    context.Context // ends with it
	endLife context.CancelCauseFunc
	ended   atomic.Bool // stored by mark, loaded by over

	place func() hardware.Place // of this rank; nil: that of the process
}

// Init finds the job this process was started in and connects to it (MPI_Init,
// MPI-4.0 §11.2.1). It is collective and blocks until all ranks have called it, or
// NewSession, or ctx ends. Without a launcher the World has one rank. If the
// environment describes several ranks and they can't be found, Init fails with an
// error that says what to do. If the fabric can't be used, it fails with
// ErrUnsupported. A launched process has one World; sessions may exist before it,
// beside it and after it (NewSession). The thread level is always ThreadMultiple
// (MPI_Init_thread, MPI-4.0 §11.2.1). Other errors are ErrArg for a nil context, an
// unknown fabric or negative Limits, ErrProcFailed if a rank has left, ErrCanceled if ctx
// ends, and ErrOther for a wrong environment or a second World. Non-local.
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

func initWorld(ctx context.Context, o options) (w *World, err error) {
	err = atHome(ctx, "Init", o, func(in *instance) error {
		if w, err = in.newWorld(nil); err == errTaken && in.launched() {
			err = cause.ErrDiscovered
		}
		return err
	})
	if err == cause.ErrDiscovered {
		err = errUsed("a World is not made again; sessions are, if there was one before World.Finalize (NewSession)")
	}
	if err != errTaken {
		return w, err
	}
	in, err := arrive(ctx, "Init", o) // a world of one beside another
	if err != nil {
		return nil, err
	}
	return in.newWorld(nil)
}

// newWorld makes the World of the rank, or that of a session.
func (in *instance) newWorld(s *Session) (*World, error) {
	w := &World{instance: in, session: s, thread: unix.Gettid()}
	w.life, w.endLife = context.WithCancelCause(context.Background())
	w.comm, w.self = newComm(w, in.engine.World, nil), newComm(w, in.engine.Self, nil)
	if err := in.enter(w); err != nil {
		return nil, err
	}
	if s == nil && in.trace != nil {
		in.compareClocks(0)
	}
	if s == nil {
		in.comms.add(w.comm)
		in.comms.add(w.self)
		begin(w)
	}
	return w, nil
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
	if w == nil || w.instance == nil {
		return ""
	}
	return w.fabric
}

// check returns an error if the World can't be used any more.
func (w *World) check(call string) error {
	if w == nil || w.comm == nil {
		return badArg(call, ErrComm, "the World is nil: take what Init has returned, or what Run has given")
	}
	if w.over() {
		return w.finalized(call)
	}
	return nil
}

// finalized is the error of a call on a World, or a communicator, that has ended.
func (w *World) finalized(call string) error {
	if abort := w.aborted(); abort != nil {
		return fail(call, abort)
	}
	if w.session != nil {
		return badArg(call, ErrComm, "the session of the communicator has been finalized")
	}
	return badArg(call, ErrComm, "the World has been finalized")
}

// Finalize ends the membership (MPI_Finalize, MPI-4.0 §11.2.2). It is
// collective: it blocks until every rank has called it. First it deletes the
// attributes of Self, the last one first, while every call still works (§11.2.4);
// an error of a delete function is returned. All operations must have been
// completed; others fail with ErrComm, or with ErrProcFailed if the other rank left
// first. Afterwards every call on the World fails with ErrComm. Sessions of the rank
// go on; without one Finalize releases everything. It does so even if it fails,
// because of a dead rank say: ranks still waiting in it then count this one as dead.
// Non-local.
func (w *World) Finalize() error {
	const call = "World.Finalize"
	if err := w.check(call); err != nil {
		return err
	}
	left := w.self.st.attrs.clear(w.self)
	if left == errGoing { // the first Finalize reports it
		left = nil
	}
	err := w.comm.core.Barrier(w.comm.ctx, true)
	if w.trace != nil && err == nil {
		err = w.gatherTrace()
	}
	first, end := w.end()
	if !first {
		return w.finalized(call)
	}
	return fail(call, w.comm.cause(errors.Join(left, err, end)))
}
