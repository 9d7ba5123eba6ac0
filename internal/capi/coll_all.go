package capi

import "github.com/weft-mpi/weft/mpi"

func allgather(a *Args) error     { return (*mpi.Comm).Allgather(a.allgathered()) }
func iallgather(a *Args) error    { return a.at(7).request((*mpi.Comm).Iallgather(a.allgathered())) }
func allgatherInit(a *Args) error { return a.at(8).request((*mpi.Comm).AllgatherInit(a.allgathered())) }

func (a *Args) allgathered() (c *mpi.Comm, send, recv mpi.Buf) {
	c = a.comm(6)
	return c, a.buf(0), a.many(peers(c), 3, 4, 5)
}

func allgatherv(a *Args) error  { return (*mpi.Comm).Allgatherv(a.allgatheredv()) }
func iallgatherv(a *Args) error { return a.at(8).request((*mpi.Comm).Iallgatherv(a.allgatheredv())) }

func allgathervInit(a *Args) error {
	return a.at(9).request((*mpi.Comm).AllgathervInit(a.allgatheredv()))
}

func (a *Args) allgatheredv() (c *mpi.Comm, send, recv mpi.Buf, counts, displs []int) {
	c = a.comm(7)
	recv, counts, displs = a.spread(peers(c), 3, 4, 5, 6)
	return c, a.buf(0), recv, counts, displs
}

func alltoall(a *Args) error     { return (*mpi.Comm).Alltoall(a.exchanged()) }
func ialltoall(a *Args) error    { return a.at(7).request((*mpi.Comm).Ialltoall(a.exchanged())) }
func alltoallInit(a *Args) error { return a.at(8).request((*mpi.Comm).AlltoallInit(a.exchanged())) }

func (a *Args) exchanged() (c *mpi.Comm, send, recv mpi.Buf) {
	c = a.comm(6)
	n := peers(c)
	return c, a.many(n, 0, 1, 2), a.many(n, 3, 4, 5)
}

func alltoallv(a *Args) error     { return (*mpi.Comm).Alltoallv(a.exchangedv()) }
func ialltoallv(a *Args) error    { return a.at(9).request((*mpi.Comm).Ialltoallv(a.exchangedv())) }
func alltoallvInit(a *Args) error { return a.at(10).request((*mpi.Comm).AlltoallvInit(a.exchangedv())) }

func (a *Args) exchangedv() (c *mpi.Comm, send mpi.Buf, sends, from []int, recv mpi.Buf, recvs, to []int) {
	c = a.comm(8)
	send, sends, from = a.spread(peers(c), 0, 1, 2, 3)
	recv, recvs, to = a.spread(peers(c), 4, 5, 6, 7)
	return c, send, sends, from, recv, recvs, to
}

func alltoallw(a *Args) error     { return (*mpi.Comm).Alltoallw(a.exchangedw()) }
func ialltoallw(a *Args) error    { return a.at(9).request((*mpi.Comm).Ialltoallw(a.exchangedw())) }
func alltoallwInit(a *Args) error { return a.at(10).request((*mpi.Comm).AlltoallwInit(a.exchangedw())) }

func (a *Args) exchangedw() (c *mpi.Comm, send, recv []mpi.Buf) {
	c = a.comm(8)
	return c, a.wide(peers(c), 0, 1, 2, 3, false), a.wide(peers(c), 4, 5, 6, 7, false)
}
