package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/op"
)

// In a call with a root between two groups (MPI-4.0 §6.2.3) the root passes Root, the
// other ranks of its group pass ProcNull, and those of the other group the root's rank
// there. What a rank does not use of its arguments it does not look at: a rank that
// passes ProcNull uses none. Only the root passes its block's length by a whole buffer,
// as it has none of its own.

// The plans have the same values.
const (
	_ = uint(Root-coll.RootHere) + uint(coll.RootHere-Root)
	_ = uint(ProcNull-coll.RootFellow) + uint(coll.RootFellow-ProcNull)
)

// checkRemoteRoot checks the root of a call between two groups.
func (c *Comm) checkRemoteRoot(call string, root int) error {
	if root == Root || root == ProcNull || uint(root) < uint(c.remote) {
		return nil
	}
	return notIn(call, ErrRoot, "root", root, "the remote group (the root itself passes Root, and its fellows ProcNull)", c.remote)
}

// refuseBetween is for InPlace on an intercommunicator.
func refuseBetween(call, buffer string) error {
	return badArg(call, ErrBuffer, "InPlace as %s: MPI has it within one group only; on an intercommunicator nothing of a rank's own comes back to it", buffer)
}

// noneInPlace refuses InPlace as either buffer.
func (x *operation) noneInPlace(call string) error {
	switch {
	case x.here:
		return refuseBetween(call, "send")
	case x.instead:
		return refuseBetween(call, "recv")
	}
	return nil
}

func (x *operation) gatherBetween(c *Comm, call string, root int) (err error) {
	k := comm.PlanKey{Call: coll.Gather, Root: root}
	switch root {
	case ProcNull:
		x.o.In, x.o.Out = nil, nil
	case Root:
		if err = x.noneInPlace(call); err == nil {
			k.Count, err = x.shares(call, "recv", x.recvs, c.everyone())
		}
		x.o.In = nil
	default:
		k.Count, err = x.sendsAll(call)
	}
	if err != nil {
		return err
	}
	return x.uniform(c, call, &k)
}

// sendsAll is the length of send at a rank that only sends.
func (x *operation) sendsAll(call string) (int, error) {
	if x.here {
		return 0, refuseBetween(call, "send")
	}
	x.o.Out = nil
	return x.sends, nil
}

// takesAll is the length of recv at a rank that only receives.
func (x *operation) takesAll(call string) (int, error) {
	if x.instead {
		return 0, refuseBetween(call, "recv")
	}
	x.o.In = nil
	return x.recvs, nil
}

func (x *operation) gathervBetween(c *Comm, call string, counts, displs []int, root int) (err error) {
	s := coll.Shape{Root: root}
	switch root {
	case ProcNull:
		x.o.In, x.o.Out = nil, nil
	case Root:
		var to blocks
		if err = x.noneInPlace(call); err == nil {
			to, err = x.receives(call, counts, displs, c.everyone())
		}
		s.Counts, s.Displs = to.counts, to.displs
		x.o.In = nil
	default:
		s.Count, err = x.sendsAll(call)
	}
	if err != nil {
		return err
	}
	return x.irregular(c, coll.Gatherv, &s)
}

func (x *operation) scatterBetween(c *Comm, call string, root int) (err error) {
	k := comm.PlanKey{Call: coll.Scatter, Root: root}
	switch root {
	case ProcNull:
		x.o.In, x.o.Out = nil, nil
	case Root:
		if err = x.noneInPlace(call); err == nil {
			k.Count, err = x.shares(call, "send", x.sends, c.everyone())
		}
		x.o.Out = nil
	default:
		k.Count, err = x.takesAll(call)
	}
	if err != nil {
		return err
	}
	return x.uniform(c, call, &k)
}

func (x *operation) scattervBetween(c *Comm, call string, counts, displs []int, root int) (err error) {
	s := coll.Shape{Root: root}
	switch root {
	case ProcNull:
		x.o.In, x.o.Out = nil, nil
	case Root:
		var from blocks
		if err = x.noneInPlace(call); err == nil {
			from, err = x.blocks(call, "send", x.sends, counts, displs, c.everyone())
		}
		s.Counts, s.Displs = from.counts, from.displs
		x.o.Out = nil
	default:
		s.Count, err = x.takesAll(call)
	}
	if err != nil {
		return err
	}
	return x.irregular(c, coll.Scatterv, &s)
}

func (x *operation) reduceBetween(c *Comm, call string, o *Op, kind op.Kind, root int) (err error) {
	k := comm.PlanKey{Call: coll.Reduce, Root: root}
	if root == ProcNull {
		x.o.In, x.o.Out = nil, nil
		return x.uniform(c, call, &k)
	}
	f, err := x.fit(call, o, kind)
	switch {
	case err != nil:
	case root == Root:
		if err = x.noneInPlace(call); err == nil {
			k.Count, err = x.takesAll(call)
		}
	default:
		k.Count, err = x.sendsAll(call)
	}
	if err != nil {
		return err
	}
	return x.reduction(c, call, &k, o, kind, f)
}
