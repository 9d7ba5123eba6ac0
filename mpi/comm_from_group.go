package mpi

import (
	"context"
	"fmt"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/frames"
)

// Communicators of a group whose ranks have no communicator in common, or do not call
// with all of its ranks.

// CreateGroup makes a communicator of the ranks of a group, in its order
// (MPI_Comm_create_group, MPI-4.0 §7.4.2). Only the ranks of the group call it, all
// with the same group, whose ranks are ranks of this communicator, which is no
// intercommunicator. tag, 0 to TagUB, tells calls apart that a rank makes at once on
// this communicator, from several goroutines; it has nothing to do with the tags of
// messages. The new communicator has the context and the error handler of this one,
// and neither attributes nor hints.
//
// A wrong argument fails at once, with ErrGroup for a group that the caller is not in
// or that has a rank outside of this communicator. Such a rank has made no call, so
// that others wait for it; the context ends that, at all. Calls with different groups
// wait for each other's ranks too. The death of a rank of the group fails the call. It
// fails with ErrTag too if an earlier call with this tag was broken off, and ErrComm on
// an intercommunicator. Non-local.
func (c *Comm) CreateGroup(g *Group, tag int) (*Comm, error) {
	const call = "Comm.CreateGroup"
	if c.gone() {
		return nil, c.explain(call, 0, 0, false)
	}
	switch err := g.alone(c.core.Instance(), c.w); {
	case c.core.Remote != nil:
		return nil, c.raise(badArg(call, ErrComm, "this is an intercommunicator: make the communicator on one of a single group, or by CommCreateFromGroup"))
	case tag < 0 || tag > TagUB:
		return nil, c.raise(badTag(call, tag))
	case err != nil:
		return nil, c.raise(&Error{Class: ErrGroup, Call: call, Err: err})
	}
	own := c.members()
	for _, rank := range g.All() {
		if own.Rank(rank) < 0 {
			return nil, c.fail(call, &comm.OutsiderError{Rank: rank})
		}
	}
	m := comm.Meeting{Key: fmt.Sprintf("create group %d %d", c.cid, tag), Own: g.ranks}
	frames.Callers(&m.Place)
	core, err := c.w.meet(c.ctx, m)
	if err != nil {
		return nil, c.fail(call, err)
	}
	return c.w.made(core, c.ctx, c.st.handler.Load(), &Info{}), nil
}

// MaxStringTag is the longest tag of CommCreateFromGroup in bytes
// (MPI_MAX_STRINGTAG_LEN, without C's final zero).
const MaxStringTag = 1023

// CommOptions are what a communicator of a group begins with. The zero value is for
// most.
type CommOptions struct {
	// Context is that of the creation and of the communicator's operations, as that
	// of Comm.WithContext. A nil one never ends.
	Context context.Context
	// Info are the communicator's hints, as SetInfo gives them.
	Info *Info
	// Errhandler is the communicator's error handler. It sees an error of the
	// creation too, with Self, or with a communicator of the session like it. If it
	// is nil it is that of the session, or of Self, which the group comes from.
	Errhandler *Errhandler
}

// CommCreateFromGroup makes a communicator of the ranks of a group, in its order
// (MPI_Comm_create_from_group, MPI-4.0 §7.4.2). Only the ranks of the group call it,
// all with the same group and the same tag, of at most MaxStringTag bytes: it tells
// calls apart that a rank makes at once for one group, of two libraries say, which
// should begin it with a name of theirs. Calls with the same tag for different groups
// have nothing to do with each other. An empty group gives nil, without another rank.
//
// The communicator belongs to the session of the group, and ends with it, or to the
// World. A wrong group or tag fails at once; such a rank has made no call, so that
// others wait for it. Wrong Info at one rank makes the call fail at all. The death of
// a rank of the group fails the call. It fails with ErrGroup for a group that is nil or
// without the caller, ErrArg for a tag that is too long, ErrErrhandler for a handler of
// another kind of object, ErrInfoValue for wrong Info, ErrTag if an earlier call with
// this tag was broken off, and ErrSession after the session's Finalize. Non-local.
func CommCreateFromGroup(g *Group, tag string, o CommOptions) (*Comm, error) {
	return createFromGroup("CommCreateFromGroup", g, tag, o)
}

func createFromGroup(call string, g *Group, tag string, o CommOptions) (*Comm, error) {
	m := comm.Meeting{Key: "from group " + tag}
	frames.Callers(&m.Place)
	if g != nil && g.in == nil || g != nil && g.Size() == 0 {
		return nil, nil
	}
	p, err := g.prepare(call, tag, o)
	if err != nil {
		return nil, err
	}
	m.Own, m.Failed = g.ranks, p.failed
	core, err := p.w.meet(o.Context, m)
	if err != nil {
		return nil, p.fail(err)
	}
	return p.w.made(core, o.Context, p.handler, p.hints), nil
}

// IntercommCreateFromGroups makes an intercommunicator of two groups without a common
// rank (MPI_Intercomm_create_from_groups, MPI-4.0 §7.6.2). All ranks of both call it,
// each with its own group as local, with the same tag, which does what that of
// CommCreateFromGroup does. localLeader is the number in local of a rank that all
// ranks of local agree on. remote and remoteLeader, the other side's leader, are used
// at that rank only. Neither group is empty.
//
// What CommCreateFromGroup says of o, of sessions and of errors holds here too; wrong
// remote arguments of a leader make the call fail at all ranks of its group. Errors are
// those of CommCreateFromGroup, ErrRank for a wrong leader, and ErrGroup for a remote
// group that is nil, empty or has a common rank. Non-local.
func IntercommCreateFromGroups(local *Group, localLeader int, remote *Group, remoteLeader int, tag string, o CommOptions) (*Comm, error) {
	const call = "IntercommCreateFromGroups"
	m := comm.Meeting{Key: "from groups " + tag, Own: local.members()}
	frames.Callers(&m.Place)
	p, err := local.prepare(call, tag, o)
	switch {
	case err != nil:
		return nil, err
	case localLeader < 0 || localLeader >= local.Size():
		return nil, p.raise(notIn(call, ErrRank, "local leader", localLeader, "the group", local.Size()))
	}
	var wrong error
	if local.Rank() == localLeader {
		wrong = local.faces(call, remote, remoteLeader)
	}
	if m.Remote, err = p.hear(local, localLeader, remote, tag, wrong); err != nil {
		return nil, p.fail(err)
	}
	m.Failed = p.failed
	core, err := p.w.meet(o.Context, m)
	if err != nil {
		return nil, p.fail(err)
	}
	return p.w.made(core, o.Context, p.handler, p.hints), nil
}
