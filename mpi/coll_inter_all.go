package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// In a call between two groups without a root each rank receives from all ranks of the
// remote group. The blocks that come may be longer or shorter than those that go, and
// there may be none: a call in which one group only sends is a call too (MPI-4.0 §6.7).
// So a buffer is cut into exactly its blocks.

func (x *operation) allgatherBetween(c *Comm, call string) (err error) {
	k := comm.PlanKey{Call: coll.Allgather, Count: x.sends}
	if err = x.noneInPlace(call); err == nil {
		k.RecvCount, err = x.shares(call, "recv", x.recvs, c.everyone())
	}
	if err == nil {
		err = x.checkRecv(call, x.recvs)
	}
	if err != nil {
		return err
	}
	return x.uniform(c, call, &k)
}

func (x *operation) allgathervBetween(c *Comm, call string, counts, displs []int) error {
	if err := x.noneInPlace(call); err != nil {
		return err
	}
	to, err := x.receives(call, counts, displs, c.everyone())
	switch {
	case err != nil:
		return err
	case x.meet(one(x.sends), to):
		return x.overlaps(call)
	}
	return x.irregular(c, coll.Allgatherv, &coll.Shape{Count: x.sends, Counts: to.counts, Displs: to.displs})
}

func (x *operation) alltoallBetween(c *Comm, call string) (err error) {
	k := comm.PlanKey{Call: coll.Alltoall}
	if err = x.noneInPlace(call); err == nil {
		k.Count, err = x.shares(call, "send", x.sends, c.everyone())
	}
	if err == nil {
		k.RecvCount, err = x.shares(call, "recv", x.recvs, c.everyone())
	}
	if err == nil {
		err = x.checkRecv(call, x.recvs)
	}
	if err != nil {
		return err
	}
	return x.uniform(c, call, &k)
}
