package mpi

import (
	"context"
	"sync/atomic"

	"github.com/weft-mpi/weft/mpi/cause"
)

// Session is a rank's membership in its job that a part of a program, a library say,
// has for itself (MPI_Session, MPI-4.0 §11.3): from NewSession to Finalize. It names
// sets of ranks (Psets), of which groups and communicators are made:
//
//	s, err := mpi.NewSession(ctx)
//	g, err := s.Group(mpi.PsetWorld)
//	c, err := mpi.CommCreateFromGroup(g, "org.example.solver", mpi.CommOptions{})
//
// A rank has any number of sessions, at once and one after another, beside its World
// or without one. They are independent: groups and communicators of two sessions, or
// of a session and the World, can't be given to one call. All share the connections
// to the other ranks, so a further session costs little. It is safe for concurrent
// use.
type Session struct {
	w       *World                     // of its communicators
	handler atomic.Pointer[Errhandler] // nil: ErrorsReturn; stored by SetErrhandler, loaded by raise
}

// rankKey is the key of the rank in the contexts of RunSessions.
type rankKey struct{}

// NewSession makes a session of this rank (MPI_Session_init, MPI-4.0 §11.3.1). The
// rank is that of the process, or, where ranks are goroutines, the one that ctx is of:
// see RunSessions, and World.NewSession for Run. Without such a context it fails with
// ErrSession there. Several goroutines may call it at once.
//
// The first World or Session of a launched process joins the job, and then blocks until
// all ranks have called NewSession or Init, or ctx ends. In MPI the call is local. Here it
// is where ranks tell one another their hosts and addresses, so that Psets and Group, which
// are local too, need no other rank, and a wrong environment is told at once. A program
// notices if a rank calls it only after something that another one does behind its own
// first call, or never: the others wait. Any further call is local. Without a launcher the
// job has one rank.
//
// The World and the sessions of a rank share what opts are about, and the first of
// them sets it: later options have no effect, except that WithFabric with another
// fabric than the rank uses is ErrArg.
//
// Sessions can be made again after the last one was finalized. A launched process
// keeps its connections for that, from its first session on until it exits. One that
// has had a World only, and has finalized it, can't take part any more: NewSession
// fails with ErrSession. Where it joins the job its other errors are those of Init.
// Non-local.
func NewSession(ctx context.Context, opts ...Option) (*Session, error) {
	const call = "NewSession"
	if ctx == nil {
		return nil, badArg(call, ErrArg, "the context is nil: give context.Background(), or that of RunSessions")
	}
	o := makeOptions(opts)
	if in, ok := ctx.Value(rankKey{}).(*instance); ok {
		if err := in.fits(call, o); err != nil {
			return nil, err
		}
		return in.newSession(call)
	}
	if crews.Load() > 0 {
		return nil, badArg(call, ErrSession, "the ranks of this process are goroutines, and the context is of none of them: give the one that RunSessions gives, or one derived from it, or call World.NewSession")
	}
	var s *Session
	err := atHome(ctx, call, o, func(in *instance) (err error) {
		s = &Session{}
		s.w, err = in.newWorld(s)
		return err
	})
	if err == cause.ErrDiscovered {
		err = badArg(call, ErrSession, "%w", errUsed("make a session before World.Finalize, which keeps the process's connections for further ones"))
	}
	if err != nil {
		return nil, fail(call, err)
	}
	return s, nil
}

// NewSession makes a session of the rank (MPI_Session_init, MPI-4.0 §11.3.1), also of
// one that is a goroutine of Run. It is independent of the World and may outlive it.
// After Finalize it fails with ErrSession, unless the rank has another session, or had
// one and is a launched process. Local.
func (w *World) NewSession() (*Session, error) {
	const call = "World.NewSession"
	if w == nil || w.comm == nil {
		return nil, w.check(call)
	}
	return w.instance.newSession(call)
}

func (in *instance) newSession(call string) (s *Session, err error) {
	s = &Session{}
	if s.w, err = in.newWorld(s); err == errOver {
		if abort := in.aborted(); abort != nil {
			return nil, fail(call, abort)
		}
		err = badArg(call, ErrSession, "the rank has left its job: its World and its sessions are finalized, or RunSessions has returned")
	}
	if err != nil {
		return nil, fail(call, err)
	}
	return s, nil
}

// check returns an error if the session can't be used. It is not raised: there is no
// handler any more.
func (s *Session) check(call string) error {
	switch {
	case s == nil || s.w == nil:
		return badArg(call, ErrSession, "the Session is nil: take what NewSession has returned")
	case s.w.over():
		if abort := s.w.aborted(); abort != nil {
			return fail(call, abort)
		}
		return badArg(call, ErrSession, "the session has been finalized")
	}
	return nil
}

// Finalize ends the session (MPI_Session_finalize, MPI-4.0 §11.3.1). It does not wait
// for other ranks to finalize theirs. All operations on the session's communicators
// must have been completed; others fail with ErrComm. Calls on its communicators fail
// with ErrComm from then on, also Free, and those on the session with ErrSession; their
// attributes are not deleted. Its groups can still be asked for their ranks.
//
// The last Finalize of a rank, its World's or a session's, waits until the other ranks
// have what this one has sent them, two seconds at most for ranks that make no calls
// and have no progress thread. A process that a launcher has started may exit with
// code 0 from then on, until it makes a session again. Non-local.
func (s *Session) Finalize() error {
	const call = "Session.Finalize"
	if err := s.check(call); err != nil {
		return err
	}
	first, err := s.w.end()
	if !first {
		return s.check(call)
	}
	return fail(call, err)
}

// errSessionEnded is the error of operations that Session.Finalize has ended.
const errSessionEnded endedError = "the session of the communicator has been finalized: complete its requests before"

// Info tells of the session: thread_level, as QueryThread (MPI_Session_get_info,
// MPI-4.0 §11.3.3). The caller owns the result. It fails with ErrSession after
// Finalize. Local.
func (s *Session) Info() (*Info, error) {
	if err := s.check("Session.Info"); err != nil {
		return nil, err
	}
	return NewInfo("thread_level", QueryThread().String())
}

// SetErrhandler sets the error handler of the session (MPI_Session_set_errhandler,
// MPI-4.0 §9.3.4); nil is ErrorsReturn, which every session begins with. It sees the
// errors of calls on the session and of those that make communicators of its groups,
// which have it too unless they are given another. A handler of NewErrhandler, which
// is called with a communicator, is ErrErrhandler. Local.
func (s *Session) SetErrhandler(h *Errhandler) error {
	const call = "Session.SetErrhandler"
	if err := s.check(call); err != nil {
		return err
	}
	switch {
	case h == nil:
	case h.fn != nil:
		return s.raise(badArg(call, ErrErrhandler, "the handler is one of NewErrhandler, for communicators: make one with NewSessionErrhandler"))
	case h.win != nil:
		return s.raise(errForWindows(call))
	}
	s.handler.Store(h.stored())
	return nil
}

// Errhandler is the error handler of the session (MPI_Session_get_errhandler, MPI-4.0
// §9.3.4), or nil if s is nil. Local.
func (s *Session) Errhandler() *Errhandler {
	if s == nil {
		return nil
	}
	if h := s.handler.Load(); h != nil {
		return h
	}
	return ErrorsReturn
}

// CallErrhandler has the session's error handler see an error of the program, and
// returns what a call with this error would return (MPI_Session_call_errhandler,
// MPI-4.0 §9.5). Without an error nothing happens. Its own error is ErrSession, after
// Finalize. Local.
func (s *Session) CallErrhandler(err error) error {
	if gone := s.check("Session.CallErrhandler"); gone != nil {
		return gone
	}
	return s.raise(err)
}

// raise has the session's error handler see an error, and returns the error that the
// call is to return.
func (s *Session) raise(err error) error {
	if err == nil {
		return nil
	}
	if h := s.handler.Load(); h != nil && !s.w.over() {
		return h.handle(s.w.self, err, false)
	}
	return err
}
