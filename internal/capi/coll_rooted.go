package capi

import "github.com/weft-mpi/weft/mpi"

func gather(a *Args) error     { return (*mpi.Comm).Gather(a.gathered()) }
func igather(a *Args) error    { return a.at(8).request((*mpi.Comm).Igather(a.gathered())) }
func gatherInit(a *Args) error { return a.at(9).request((*mpi.Comm).GatherInit(a.gathered())) }

func (a *Args) gathered() (c *mpi.Comm, send, recv mpi.Buf, root int) {
	c, root = a.comm(7), a.int(6)
	leads, follows := rooted(c, root)
	if follows {
		send = a.buf(0)
	}
	if leads {
		recv = a.many(peers(c), 3, 4, 5)
	}
	return c, send, recv, root
}

func gatherv(a *Args) error     { return (*mpi.Comm).Gatherv(a.gatheredv()) }
func igatherv(a *Args) error    { return a.at(9).request((*mpi.Comm).Igatherv(a.gatheredv())) }
func gathervInit(a *Args) error { return a.at(10).request((*mpi.Comm).GathervInit(a.gatheredv())) }

func (a *Args) gatheredv() (c *mpi.Comm, send, recv mpi.Buf, counts, displs []int, root int) {
	c, root = a.comm(8), a.int(7)
	leads, follows := rooted(c, root)
	if follows {
		send = a.buf(0)
	}
	if leads {
		recv, counts, displs = a.spread(peers(c), 3, 4, 5, 6)
	}
	return c, send, recv, counts, displs, root
}

func scatter(a *Args) error     { return (*mpi.Comm).Scatter(a.scattered()) }
func iscatter(a *Args) error    { return a.at(8).request((*mpi.Comm).Iscatter(a.scattered())) }
func scatterInit(a *Args) error { return a.at(9).request((*mpi.Comm).ScatterInit(a.scattered())) }

func (a *Args) scattered() (c *mpi.Comm, send, recv mpi.Buf, root int) {
	c, root = a.comm(7), a.int(6)
	leads, follows := rooted(c, root)
	if leads {
		send = a.many(peers(c), 0, 1, 2)
	}
	if follows {
		recv = a.buf(3)
	}
	return c, send, recv, root
}

func scatterv(a *Args) error     { return (*mpi.Comm).Scatterv(a.scatteredv()) }
func iscatterv(a *Args) error    { return a.at(9).request((*mpi.Comm).Iscatterv(a.scatteredv())) }
func scattervInit(a *Args) error { return a.at(10).request((*mpi.Comm).ScattervInit(a.scatteredv())) }

func (a *Args) scatteredv() (c *mpi.Comm, send, recv mpi.Buf, counts, displs []int, root int) {
	c, root = a.comm(8), a.int(7)
	leads, follows := rooted(c, root)
	if leads {
		send, counts, displs = a.spread(peers(c), 0, 1, 2, 3)
	}
	if follows {
		recv = a.buf(4)
	}
	return c, send, recv, counts, displs, root
}
