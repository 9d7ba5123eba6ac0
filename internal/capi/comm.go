package capi

import (
	"context"

	"github.com/weft-mpi/weft/mpi"
)

// Communicators (MPI-5.0 chapter 7). Attributes are C's: what is here copies and deletes
// none. A new communicator has the error handler of the one that it is made of.

func commCompare(a *Args) error {
	how, err := a.comm(0).Compare(a.comm(1))
	if err == nil {
		a.setInt(2, int(how))
	}
	return err
}

func commDup(a *Args) error {
	c, err := a.comm(0).Dup()
	return a.madeComm(1, c, err, a.handlerOf(0))
}

func commDupWithInfo(a *Args) error {
	c, err := a.comm(0).DupWithInfo(a.info(1))
	return a.madeComm(2, c, err, a.handlerOf(0))
}

func commIdup(a *Args) error {
	r, c, err := a.comm(0).Idup()
	return a.started(1, r, c, err)
}

func commIdupWithInfo(a *Args) error {
	r, c, err := a.comm(0).IdupWithInfo(a.info(1))
	return a.started(2, r, c, err)
}

// started gives a duplicate that will be made a handle, which argument i points to, and its
// request one, which the next argument points to.
func (a *Args) started(i int, r mpi.Request, c *mpi.Comm, err error) error {
	if err == nil {
		err = a.addComm(i, c, a.comm(0), a.handlerOf(0))
	}
	return a.setRequest(i+1, r, err)
}

func commCreate(a *Args) error {
	c, err := a.comm(0).Create(a.group(1))
	return a.madeComm(2, c, err, a.handlerOf(0))
}

func commCreateGroup(a *Args) error {
	c, err := a.comm(0).CreateGroup(a.group(1), a.int(2))
	return a.madeComm(3, c, err, a.handlerOf(0))
}

// commCreateFromGroup is MPI_Comm_create_from_group. Its error has no object here: C has the
// error handler of the argument see it.
func commCreateFromGroup(a *Args) error {
	c, err := mpi.CommCreateFromGroup(a.group(0), a.string(1), mpi.CommOptions{Info: a.info(2), Errhandler: noteComm})
	return a.madeComm(4, c, err, uint32(a.words[3]))
}

func intercommCreate(a *Args) error {
	c, err := mpi.IntercommCreate(a.comm(0), a.int(1), a.comm(2), a.int(3), a.int(4))
	return a.madeComm(5, c, err, a.handlerOf(0))
}

func intercommCreateFromGroups(a *Args) error {
	o := mpi.CommOptions{Info: a.info(5), Errhandler: noteComm}
	c, err := mpi.IntercommCreateFromGroups(a.group(0), a.int(1), a.group(2), a.int(3), a.string(4), o)
	return a.madeComm(7, c, err, uint32(a.words[6]))
}

func intercommMerge(a *Args) error {
	c, err := a.comm(0).Merge(a.flag(1))
	return a.madeComm(2, c, err, a.handlerOf(0))
}

func commSplit(a *Args) error {
	c, err := a.comm(0).Split(a.int(1), a.int(2))
	return a.madeComm(3, c, err, a.handlerOf(0))
}

// typeResourceGuided is MPI_COMM_TYPE_RESOURCE_GUIDED, which package mpi does not have: a
// resource is a part of a machine, or the processes of a set.
const typeResourceGuided = 224

// commSplitType is MPI_Comm_split_type. A guided split whose info says nothing makes no
// communicator.
func commSplitType(a *Args) error {
	of, kind, key, hints := a.comm(0), mpi.SplitKind(a.int(1)), a.int(2), a.info(3)
	if kind == typeResourceGuided {
		if pset, is := hints.Get("mpi_pset_name"); is {
			color, err := colorIn(pset)
			if err != nil {
				return err
			}
			c, err := of.Split(color, key)
			return a.madeComm(4, c, err, a.handlerOf(0))
		}
		kind = mpi.TypeHWGuided
	}
	if _, is := hints.Get("mpi_hw_resource_type"); kind == mpi.TypeHWGuided && !is {
		kind = mpi.Undefined
	}
	c, err := of.SplitTypeWithInfo(kind, key, hints)
	return a.madeComm(4, c, err, a.handlerOf(0))
}

// colorIn is a number for a process set of that name, which differs between sets without a
// common process, or mpi.Undefined if this process is in none.
func colorIn(pset string) (int, error) {
	s, err := mpi.NewSession(context.Background(), options...)
	if err != nil {
		return 0, err
	}
	defer s.Finalize()
	g, err := s.Group(pset)
	if err != nil || g.Rank() == mpi.Undefined {
		return mpi.Undefined, nil
	}
	for _, first := range g.All() {
		return first, nil
	}
	return mpi.Undefined, nil
}

// commFree is MPI_Comm_free. MPI_COMM_WORLD and MPI_COMM_SELF can't be freed.
func commFree(a *Args) error {
	h := *a.handleAt(0)
	c, handler := commOf(h), slotOf(kindComm, h).getHandler()
	// What is under way goes on, and its errors go to the handler that the communicator had.
	note := mpi.NewErrhandler(func(_ *mpi.Comm, err error) error {
		return &raised{err, kindErrhandler, func() uint64 { return uint64(handler) }}
	})
	if h != commWorld && h != commSelf {
		if err := c.SetErrhandler(note); err != nil {
			return err
		}
	}
	if err := c.Free(); err != nil {
		_ = c.SetErrhandler(noteComm)
		return err
	}
	drop(a, 0, comms, commNull)
	return nil
}

func commDisconnect(a *Args) error {
	if err := commOf(*a.handleAt(0)).Disconnect(); err != nil {
		return err
	}
	drop(a, 0, comms, commNull)
	return nil
}

func commSetInfo(a *Args) error { return a.comm(0).SetInfo(a.info(1)) }

func commGetInfo(a *Args) error {
	o, err := a.comm(0).Info()
	return a.madeInfo(1, o, err)
}

// commSetName is MPI_Comm_set_name, which cuts off what is too long.
func commSetName(a *Args) error {
	name := a.string(1)
	return a.comm(0).SetName(name[:min(len(name), mpi.MaxObjectName)])
}

func commGetName(a *Args) error {
	a.setInt(2, a.setString(1, a.comm(0).Name(), mpi.MaxObjectName+1))
	return nil
}

// commGetParent is MPI_Comm_get_parent: nobody spawns processes yet.
func commGetParent(a *Args) error {
	*a.handleAt(0) = commNull
	return nil
}
