package mpi

import (
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/frames"
)

// TestInter reports whether the communicator is an intercommunicator
// (MPI_Comm_test_inter, MPI-4.0 §7.6.1). That of nil is none. Local.
func (c *Comm) TestInter() bool { return c != nil && c.remote > 0 }

// RemoteSize is the number of ranks of the remote group of an intercommunicator
// (MPI_Comm_remote_size, MPI-4.0 §7.6.1), or 0 if c is none. Local.
func (c *Comm) RemoteSize() int {
	if c == nil {
		return 0
	}
	return c.remote
}

// RemoteGroup is the remote group of an intercommunicator (MPI_Comm_remote_group,
// MPI-4.0 §7.6.1), or nil if c is none. Local.
func (c *Comm) RemoteGroup() *Group {
	if !c.TestInter() {
		return nil
	}
	return &Group{in: c.core.Instance(), of: c.w, ranks: c.core.Remote}
}

// IntercommCreate makes an intercommunicator of the ranks of local and of those that
// call it with another local, which has no rank in common with this one
// (MPI_Intercomm_create, MPI-4.0 §7.6.2). All ranks of local call it, in the same order
// among its collective calls, with the same localLeader, the rank in local of their
// leader. The two leaders can send to each other in peer: remoteLeader is the other
// one's rank there, and tag, the same at both, tells this call from others that the two
// make at once; those of one tag match in their order. peer, remoteLeader and tag are
// used at the leaders only; no message of the program in peer matches theirs.
//
// The intercommunicator has the context and the error handler of local, and neither
// attributes nor hints. A wrong argument at one rank makes the call fail at all of both
// groups; but if a leader does not know the other one, the remote group waits on. The
// end of a context has the same consequences for local as that of a Barrier. It fails
// with ErrRank for a wrong leader, ErrComm for a local with two groups or a wrong peer,
// ErrTag for a wrong tag, and ErrGroup for groups with a common rank. Non-local.
//
// Messages on it go from one group to the other, and the collective calls too: their
// docs say what a group gets. Where such a call has a root, the root passes Root, the
// other ranks of its group pass ProcNull, and those of the other group pass the root's
// rank (§6.2.3). Arguments that a rank does not use may be anything; InPlace is
// refused where they are used.
func IntercommCreate(local *Comm, localLeader int, peer *Comm, remoteLeader, tag int) (*Comm, error) {
	const call = "IntercommCreate"
	switch {
	case local.gone():
		return nil, local.explain(call, 0, 0, false)
	case local.TestInter():
		return nil, local.raise(badArg(call, ErrComm, "local is an intercommunicator: give a communicator of one group, such as the one that it was made of"))
	}
	x := comm.Connection{Leader: localLeader}
	if localLeader < 0 || localLeader >= local.size {
		x.Leader = 0 // all take part, so that all learn of it
		x.Failed = notIn(call, ErrRank, "local leader", localLeader, "the communicator", local.size)
	}
	if local.rank == x.Leader {
		if err := local.checkPeer(call, peer, remoteLeader, tag); err == nil {
			x.Peer, x.RemoteLeader, x.Tag = peer.core, remoteLeader, tag
		} else if x.Failed == nil {
			x.Failed = err
		}
	}
	frames.Callers(&x.Place)
	k := creation{c: local, call: call}
	return k.end(local.core.Connect(local.ctx, x))
}

// checkPeer checks what a leader says of the other one.
func (c *Comm) checkPeer(call string, peer *Comm, leader, tag int) error {
	switch {
	case peer == nil:
		return badArg(call, ErrComm, "peer is nil: the leader gives a communicator in which it can send to the remote leader, such as World.Comm")
	case peer.gone():
		return peer.wrong(call, 0, 0, false)
	case peer.core.Instance() != c.core.Instance():
		return badArg(call, ErrComm, "peer is of another World than local")
	case leader == ProcNull:
		return badArg(call, ErrRank, "the remote leader is ProcNull: it has to be a rank of peer")
	}
	if err := peer.wrong(call, leader, tag, false); err != nil {
		return err
	}
	if c.members().Rank(peer.world(leader)) >= 0 {
		return badArg(call, ErrRank, "the remote leader, rank %d of peer, is in local too: the groups of an intercommunicator have no rank in common", leader)
	}
	return nil
}

// Merge makes a communicator of all ranks of an intercommunicator
// (MPI_Intercomm_merge, MPI-4.0 §7.6.2): those of the group that gives high as false
// first, then those of the other one, each in the group's order. All ranks of a group
// give the same; if both groups do, either may be the first, the same at all ranks.
// Every rank must call it, in the same order among the intercommunicator's collective
// calls. The new communicator has the context and the error handler of this one, and
// neither attributes nor hints. It fails with ErrComm if c is no intercommunicator, and
// ErrArg if the ranks of a group differ in high. Non-local.
func (c *Comm) Merge(high bool) (*Comm, error) {
	const call = "Comm.Merge"
	switch {
	case c.gone():
		return nil, c.explain(call, 0, 0, false)
	case !c.TestInter():
		return nil, c.raise(badArg(call, ErrComm, "this is no intercommunicator: there is one group, and nothing to merge"))
	}
	var place [3]uintptr
	frames.Callers(&place)
	k := creation{c: c, call: call}
	return k.end(c.core.Merge(c.ctx, high, nil, place))
}
