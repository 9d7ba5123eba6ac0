package capi

import "github.com/weft-mpi/weft/mpi"

// The operations on windows (MPI-5.0 §12.3). Where an operator is MPI_NO_OP, package mpi
// does not look at the origin.

// windowOp is an operator for windows, nil for a handle that is none. Package mpi refuses
// what a program has made: that works in collective calls only (§12.3.4).
func (a *Args) windowOp(i int) *mpi.Op {
	if o := ops.get(a.words[i]); o != nil {
		return o.o
	}
	return nil
}

// one is one element at an address.
func (a *Args) one(addr, typ int) mpi.Buf { return a.array(addr, 1, typ) }

func put(a *Args) error {
	return a.win(7).Put(a.buf(0), a.int(3), a.count(4), a.count(5), a.datatype(6))
}

func get(a *Args) error {
	return a.win(7).Get(a.buf(0), a.int(3), a.count(4), a.count(5), a.datatype(6))
}

func accumulate(a *Args) error {
	return a.win(8).Accumulate(a.windowOp(7), a.buf(0), a.int(3), a.count(4), a.count(5), a.datatype(6))
}

func getAccumulate(a *Args) error {
	return a.win(11).GetAccumulate(a.windowOp(10), a.buf(0), a.buf(3), a.int(6), a.count(7), a.count(8), a.datatype(9))
}

func fetchAndOp(a *Args) error {
	return a.win(6).FetchAndOp(a.windowOp(5), a.one(0, 2), a.one(1, 2), a.int(3), a.count(4))
}

// compareAndSwap is MPI_Compare_and_swap, whose second argument is what it compares with.
func compareAndSwap(a *Args) error {
	return a.win(6).CompareAndSwap(a.one(1, 3), a.one(0, 3), a.one(2, 3), a.int(4), a.count(5))
}

func rput(a *Args) error {
	r, err := a.win(7).Rput(a.buf(0), a.int(3), a.count(4), a.count(5), a.datatype(6))
	return a.setRequest(8, r, err)
}

func rget(a *Args) error {
	r, err := a.win(7).Rget(a.buf(0), a.int(3), a.count(4), a.count(5), a.datatype(6))
	return a.setRequest(8, r, err)
}

func raccumulate(a *Args) error {
	r, err := a.win(8).Raccumulate(a.windowOp(7), a.buf(0), a.int(3), a.count(4), a.count(5), a.datatype(6))
	return a.setRequest(9, r, err)
}

func rgetAccumulate(a *Args) error {
	r, err := a.win(11).RgetAccumulate(a.windowOp(10), a.buf(0), a.buf(3), a.int(6), a.count(7), a.count(8), a.datatype(9))
	return a.setRequest(12, r, err)
}
