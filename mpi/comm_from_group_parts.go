package mpi

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/group"
)

// fromGroup is what a rank brings to a communicator of a group.
type fromGroup struct {
	call    string
	w       *World // whose it is to be
	ctx     context.Context
	handler *Errhandler // nil: ErrorsReturn
	hints   *Info
	failed  error // why this rank makes the creation fail at all
}

// prepare checks the arguments of a creation from groups. The error has been raised.
func (g *Group) prepare(call, tag string, o CommOptions) (*fromGroup, error) {
	if g == nil || g.of == nil {
		return nil, badArg(call, ErrGroup, "the group is nil, or of no World and no session: take Session.Group, or Comm.Group")
	}
	p := &fromGroup{call: call, w: g.of, ctx: o.Context}
	switch h := o.Errhandler; {
	case h == nil && p.w.session != nil:
		p.handler = p.w.session.handler.Load()
	case h == nil:
		p.handler = p.w.self.st.handler.Load()
	default:
		p.handler = h.stored()
	}
	if p.w.over() {
		if p.w.session != nil {
			return nil, p.w.session.check(call)
		}
		return nil, p.w.finalized(call)
	}
	if p.handler != nil && p.handler.session != nil && p.w.session == nil {
		p.handler = nil
		return nil, badArg(call, ErrErrhandler, "the handler is one of NewSessionErrhandler, and the group belongs to no session")
	}
	if p.handler != nil && p.handler.win != nil {
		p.handler = nil
		return nil, errForWindows(call)
	}
	if len(tag) > MaxStringTag {
		return nil, p.raise(badArg(call, ErrArg, "a tag of %d bytes: it has at most %d", len(tag), MaxStringTag))
	}
	if err := g.alone(p.w.engine, p.w); err != nil {
		return nil, p.raise(&Error{Class: ErrGroup, Call: call, Err: err})
	}
	p.hints, p.failed = hintsOf(call, o.Info)
	return p, nil
}

// raise has the handler see an error.
func (p *fromGroup) raise(err error) error {
	if p.handler == nil || p.w.over() {
		return err
	}
	return p.handler.handle(p.w.self, err, false)
}

func (p *fromGroup) fail(err error) error { return p.raise(fail(p.call, p.w.self.cause(err))) }

var errNotIn = errors.New("this rank is not in the group: only its ranks make the call")

// alone returns why a rank of w can't make a communicator of the group without others,
// or nil.
func (g *Group) alone(in *comm.Instance, w *World) error {
	switch {
	case g == nil:
		return errNilGroup
	case g.in != nil && g.in != in:
		return errors.New("the group is of another World")
	case g.of != nil && g.of != w:
		return errors.New("the group is of another session, or of the World")
	case g.Rank() == Undefined:
		return errNotIn
	}
	return nil
}

// faces returns the error in what a leader says of the other group, or nil.
func (g *Group) faces(call string, remote *Group, leader int) error {
	if err := g.mixes(remote); err != nil {
		return &Error{Class: ErrGroup, Call: call, Err: err}
	}
	n := remote.Size()
	switch {
	case n == 0:
		return badArg(call, ErrGroup, "the remote group is empty: an intercommunicator has two groups")
	case g.members().Intersection(remote.members()).Len() > 0:
		return badArg(call, ErrGroup, "the groups have a rank in common: those of an intercommunicator have none")
	case leader < 0 || leader >= n:
		return notIn(call, ErrRank, "remote leader", leader, "the remote group", n)
	}
	return nil
}

// hear has the ranks of local learn from their leader which ranks the remote group
// has. wrong is why the leader can't say.
func (p *fromGroup) hear(local *Group, leader int, remote *Group, tag string, wrong error) (*group.Map, error) {
	if local.Size() == 1 {
		return remote.members(), wrong
	}
	core, err := p.w.meet(p.ctx, comm.Meeting{Key: fmt.Sprintf("one of the groups %d %s", leader, tag), Own: local.members()})
	if err != nil {
		return nil, err
	}
	c := newComm(p.w, core, p.ctx)
	defer core.Free()
	n := []int32{-int32(classOf(wrong))} // below 0: there is none
	if c.rank == leader && wrong == nil {
		n[0] = int32(remote.Size())
	}
	if err := Bcast(c, n, leader); err != nil {
		return nil, err
	}
	if n[0] < 0 {
		if wrong == nil {
			wrong = badArg(p.call, classTold(-n[0]), "the local leader, rank %d of the group, has named no remote group; its error says why", leader)
		}
		return nil, wrong
	}
	ranks := make([]int32, n[0])
	if c.rank == leader {
		for i := range ranks {
			ranks[i] = int32(remote.ranks.World(i))
		}
	}
	if err := Bcast(c, ranks, leader); err != nil {
		return nil, err
	}
	list := make([]int, len(ranks))
	for i, r := range ranks {
		list[i] = int(r)
	}
	return group.New(list)
}

// meet makes a communicator of ranks that all call it, unless ctx or the World ends.
func (w *World) meet(ctx context.Context, m comm.Meeting) (*comm.Comm, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil && m.Failed == nil { // else others might succeed before they hear of it
		m.Failed = context.Cause(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(w.life, func() { cancel(context.Cause(w.life)) })
	defer stop()
	core, err := w.engine.Meet(ctx, m)
	if err == nil && w.over() {
		core.Finish(errEnded(w))
		err = errEnded(w)
	}
	return core, err
}

// made makes a communicator known that meet has made.
func (w *World) made(core *comm.Comm, ctx context.Context, h *Errhandler, hints *Info) *Comm {
	c := newComm(w, core, ctx)
	c.st.handler.Store(h)
	c.st.hints = *hints
	w.comms.add(c)
	return c
}
