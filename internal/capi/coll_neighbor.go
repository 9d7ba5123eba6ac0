package capi

import "github.com/weft-mpi/weft/mpi"

// degrees are how many slots the rank's neighborhood has for what comes in, and for what
// goes out. Without a topology there are none, and the call is refused.
func degrees(c *mpi.Comm) (in, out int) {
	switch kind, _ := c.Topology(); kind {
	case mpi.TopologyCart:
		cart, _ := c.Cart()
		return 2 * len(cart.Dims), 2 * len(cart.Dims)
	case mpi.TopologyGraph:
		near, _ := c.GraphNeighbors(c.Rank())
		return len(near), len(near)
	case mpi.TopologyDistGraph:
		near, _ := c.DistGraphNeighbors()
		return len(near.Sources), len(near.Dests)
	}
	return 0, 0
}

func neighborAllgather(a *Args) error { return (*mpi.Comm).NeighborAllgather(a.nearGathered()) }

func ineighborAllgather(a *Args) error {
	return a.at(7).request((*mpi.Comm).IneighborAllgather(a.nearGathered()))
}

func neighborAllgatherInit(a *Args) error {
	return a.at(8).request((*mpi.Comm).NeighborAllgatherInit(a.nearGathered()))
}

func (a *Args) nearGathered() (c *mpi.Comm, send, recv mpi.Buf) {
	c = a.comm(6)
	in, _ := degrees(c)
	return c, a.buf(0), a.many(in, 3, 4, 5)
}

func neighborAllgatherv(a *Args) error { return (*mpi.Comm).NeighborAllgatherv(a.nearGatheredv()) }

func ineighborAllgatherv(a *Args) error {
	return a.at(8).request((*mpi.Comm).IneighborAllgatherv(a.nearGatheredv()))
}

func neighborAllgathervInit(a *Args) error {
	return a.at(9).request((*mpi.Comm).NeighborAllgathervInit(a.nearGatheredv()))
}

func (a *Args) nearGatheredv() (c *mpi.Comm, send, recv mpi.Buf, counts, displs []int) {
	c = a.comm(7)
	in, _ := degrees(c)
	recv, counts, displs = a.spread(in, 3, 4, 5, 6)
	return c, a.buf(0), recv, counts, displs
}

func neighborAlltoall(a *Args) error { return (*mpi.Comm).NeighborAlltoall(a.nearExchanged()) }

func ineighborAlltoall(a *Args) error {
	return a.at(7).request((*mpi.Comm).IneighborAlltoall(a.nearExchanged()))
}

func neighborAlltoallInit(a *Args) error {
	return a.at(8).request((*mpi.Comm).NeighborAlltoallInit(a.nearExchanged()))
}

func (a *Args) nearExchanged() (c *mpi.Comm, send, recv mpi.Buf) {
	c = a.comm(6)
	in, out := degrees(c)
	return c, a.many(out, 0, 1, 2), a.many(in, 3, 4, 5)
}

func neighborAlltoallv(a *Args) error { return (*mpi.Comm).NeighborAlltoallv(a.nearExchangedv()) }

func ineighborAlltoallv(a *Args) error {
	return a.at(9).request((*mpi.Comm).IneighborAlltoallv(a.nearExchangedv()))
}

func neighborAlltoallvInit(a *Args) error {
	return a.at(10).request((*mpi.Comm).NeighborAlltoallvInit(a.nearExchangedv()))
}

func (a *Args) nearExchangedv() (c *mpi.Comm, send mpi.Buf, sends, from []int, recv mpi.Buf, recvs, to []int) {
	c = a.comm(8)
	in, out := degrees(c)
	send, sends, from = a.spread(out, 0, 1, 2, 3)
	recv, recvs, to = a.spread(in, 4, 5, 6, 7)
	return c, send, sends, from, recv, recvs, to
}

func neighborAlltoallw(a *Args) error { return (*mpi.Comm).NeighborAlltoallw(a.nearExchangedw()) }

func ineighborAlltoallw(a *Args) error {
	return a.at(9).request((*mpi.Comm).IneighborAlltoallw(a.nearExchangedw()))
}

func neighborAlltoallwInit(a *Args) error {
	return a.at(10).request((*mpi.Comm).NeighborAlltoallwInit(a.nearExchangedw()))
}

func (a *Args) nearExchangedw() (c *mpi.Comm, send, recv []mpi.Buf) {
	c = a.comm(8)
	in, out := degrees(c)
	return c, a.wide(out, 0, 1, 2, 3, true), a.wide(in, 4, 5, 6, 7, true)
}
