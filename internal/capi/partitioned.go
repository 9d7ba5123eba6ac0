package capi

import "github.com/weft-mpi/weft/mpi"

func psendInit(a *Args) error {
	p, err := a.comm(6).PsendInit(a.partitions(), a.int(1), a.int(4), a.int(5))
	return a.setPartitioned(8, p, err)
}

func precvInit(a *Args) error {
	p, err := a.comm(6).PrecvInit(a.partitions(), a.int(1), a.int(4), a.int(5))
	return a.setPartitioned(8, p, err)
}

// partitions is the memory of all partitions. The call has the count of one.
func (a *Args) partitions() mpi.Buf { return a.array(0, times(a.int(1), a.count(2)), 3) }

func (a *Args) setPartitioned(i int, p *mpi.Partitioned, err error) error {
	if err != nil {
		return err
	}
	return a.setRequest(i, p.Request, nil)
}

func pready(a *Args) error {
	r, err := requestOf(a.words[1])
	if err != nil {
		return err
	}
	return mpi.Pready(a.int(0), r)
}

func preadyRange(a *Args) error {
	r, err := requestOf(a.words[2])
	if err != nil {
		return err
	}
	return mpi.PreadyRange(a.int(0), a.int(1), r)
}

func preadyList(a *Args) error {
	r, err := requestOf(a.words[2])
	if err != nil {
		return err
	}
	if a.int(0) > 0 && a.pointer(1) == nil {
		return errNull
	}
	return mpi.PreadyList(a.ints(1, a.int(0)), r)
}

func parrived(a *Args) error {
	r, err := requestOf(a.words[0])
	if err != nil {
		return err
	}
	there, err := mpi.Parrived(r, a.int(1))
	a.setFlag(2, there)
	return err
}
