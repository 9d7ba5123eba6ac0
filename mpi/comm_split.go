package mpi

import (
	"errors"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/group"
)

// Split makes a communicator of each set of ranks that give the same color
// (MPI_Comm_split, MPI-4.0 §7.4.2). Its ranks are in the order of key, and those of
// the same key in that of their ranks here. color is not negative, or Undefined: such
// a rank takes part in the call and gets nil. Every rank must call it, in the same
// order among the communicator's collective calls. The new communicator has the
// context and the error handler of this one, and neither attributes nor hints. A
// wrong argument at one rank makes the call fail at all. On an intercommunicator each
// color makes one of the ranks of either group that give it; if one of the groups has
// none, those of the other get nil. It fails with ErrArg for a negative color other
// than Undefined. Non-local.
func (c *Comm) Split(color, key int) (*Comm, error) {
	k := creation{c: c, call: "Comm.Split", spec: comm.Spec{Split: true, Color: color, Key: key}}
	if color < 0 && color != Undefined {
		k.spec.Failed = badArg(k.call, ErrArg, "the color %d is negative: give one from 0 on, or Undefined for no communicator", color)
	}
	return k.make()
}

// The engine has the same value.
const _ = uint(Undefined-comm.NoColor) + uint(comm.NoColor-Undefined)

// Create makes a communicator of the ranks of a group, in its order
// (MPI_Comm_create, MPI-4.0 §7.4.2). Every rank of this communicator must call it, in
// the same order among its collective calls. All ranks of a group give that group.
// Others get nil; they may give a group of their own, which has no rank in common
// with it. The groups are of ranks of this communicator. A wrong group at one rank
// makes the call fail at all. The new communicator has the context and the error
// handler of this one, and neither attributes nor hints. On an intercommunicator the
// group is of ranks of the local group, and what is made is one of this group and of
// that which the remote ranks give; if either is empty all get nil. It fails with
// ErrGroup for a group that is nil, of another World, of other ranks, or not the same
// at its ranks. Non-local.
func (c *Comm) Create(g *Group) (*Comm, error) {
	k := creation{c: c, call: "Comm.Create"}
	switch {
	case c.gone():
	case g == nil:
		k.spec.Failed = badArg(k.call, ErrGroup, "the group is nil: a rank that is to get no communicator gives GroupEmpty, or the group of others")
		k.spec.Group = group.All(0)
	case g.in != nil && g.in != c.core.Instance():
		k.spec.Failed = badArg(k.call, ErrGroup, "the group is of another World")
		k.spec.Group = group.All(0)
	case g.of != nil && g.of != c.w:
		k.spec.Failed = badArg(k.call, ErrGroup, "the group is of another session than the communicator, or of the World")
		k.spec.Group = group.All(0)
	case g.ranks == nil:
		k.spec.Group = group.All(0)
	default:
		k.spec.Group = g.ranks
	}
	return k.make()
}

// joined is errors.Join that leaves a single error as it is.
func joined(err, more error) error {
	if more == nil {
		return err
	}
	return errors.Join(err, more)
}
