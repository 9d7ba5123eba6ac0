package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// neighbors are those of the topology for calls of neighborhoods, nil if it has none that
// these are defined for.
func (t *topology) neighbors() *coll.Neighbors {
	if t == nil {
		return nil
	}
	if t.kind == TopologyGraph {
		if _, _, one := t.graph.Asymmetric(); one {
			return nil
		}
	}
	sources, dests, cart := t.near()
	return &coll.Neighbors{Sources: sources, Dests: dests, Crossed: cart}
}

// nearby checks the communicator of a call of neighborhoods, and that no buffer is InPlace.
func (x *operation) nearby(c *Comm, call string) (*coll.Neighbors, error) {
	switch {
	case c.gone():
		return nil, c.wrong(call, 0, 0, false)
	case c.core.Near == nil && c.st.topo != nil:
		from, to, _ := c.st.topo.graph.Asymmetric()
		return nil, badArg(call, ErrTopology, "the graph of %s has more edges from %d to %d than back, and neighbors exchange elements both ways: give both, or make the communicator by DistGraphAdjacent", c.called(), from, to)
	case c.core.Near == nil:
		return nil, badArg(call, ErrTopology, "%s has no topology, and so no neighbors: take what CartCreate, GraphCreate or DistGraphAdjacent returns", c.called())
	case x.here || x.instead:
		return nil, badArg(call, ErrBuffer, "InPlace: MPI has none in calls of neighborhoods, which need two buffers")
	}
	return c.core.Near, nil
}

func (x *operation) neighborAllgather(c *Comm, call string) error {
	near, err := x.nearby(c, call)
	if err != nil {
		return err
	}
	k := comm.PlanKey{Call: coll.NeighborAllgather, Count: x.sends}
	if k.RecvCount, err = x.shares(call, "recv", x.recvs, slots(len(near.Sources))); err != nil {
		return err
	}
	return x.atOnce(c, call, near, &k)
}

func (x *operation) neighborAlltoall(c *Comm, call string) error {
	near, err := x.nearby(c, call)
	if err != nil {
		return err
	}
	k := comm.PlanKey{Call: coll.NeighborAlltoall}
	if k.Count, err = x.shares(call, "send", x.sends, slots(len(near.Dests))); err != nil {
		return err
	}
	if k.RecvCount, err = x.shares(call, "recv", x.recvs, slots(len(near.Sources))); err != nil {
		return err
	}
	return x.atOnce(c, call, near, &k)
}

// atOnce plans a call whose blocks are equally long.
func (x *operation) atOnce(c *Comm, call string, near *coll.Neighbors, k *comm.PlanKey) error {
	if own := near.Own(c.rank); len(own) > 0 && k.Count != k.RecvCount {
		return x.ownDiffers(call, own[0], k.Count, k.RecvCount)
	}
	if x.overlap(x.recvs) {
		return nearbyOverlap(call)
	}
	return x.uniform(c, call, k)
}

func nearbyOverlap(call string) error {
	return badArg(call, ErrBuffer, "send and recv overlap: give two buffers: there is no InPlace in calls of neighborhoods")
}

// ownDiffers is the error of a block that the rank sends itself.
func (x *operation) ownDiffers(call string, slots [2]int, sends, takes int) error {
	return badArg(call, ErrCount, "this rank sends itself %d %s from slot %d and receives %d in slot %d: give as many", sends, x.counted(), slots[0], takes, slots[1])
}

func (x *operation) neighborAllgatherv(c *Comm, call string, counts, displs []int) error {
	near, err := x.nearby(c, call)
	if err != nil {
		return err
	}
	to, err := x.receives(call, counts, displs, slots(len(near.Sources)))
	if err != nil {
		return err
	}
	for _, own := range near.Own(c.rank) {
		if to.counts[own[1]] != x.sends {
			return x.ownDiffers(call, own, x.sends, to.counts[own[1]])
		}
	}
	if x.meet(one(x.sends), to) {
		return nearbyOverlap(call)
	}
	return x.irregular(c, coll.NeighborAllgatherv, &coll.Shape{Count: x.sends, RecvCounts: to.counts, RecvDispls: to.displs})
}

func (x *operation) neighborAlltoallv(c *Comm, call string, sendcounts, sdispls, recvcounts, rdispls []int) error {
	near, err := x.nearby(c, call)
	if err != nil {
		return err
	}
	to, err := x.receives(call, recvcounts, rdispls, slots(len(near.Sources)))
	if err != nil {
		return err
	}
	from, err := x.blocks(call, "send", x.sends, sendcounts, sdispls, slots(len(near.Dests)))
	if err != nil {
		return err
	}
	return x.byBlocks(c, call, coll.NeighborAlltoallv, near, from, to)
}

func (x *operation) neighborAlltoallw(c *Comm, call string, send, recv []Buf) error {
	x.bufs, x.o.Elem = true, 1
	x.here, x.instead = len(send) == 1 && send[0].inPlace(), len(recv) == 1 && recv[0].inPlace()
	near, err := x.nearby(c, call)
	if err != nil {
		return err
	}
	out, to, err := wideOf(call, "recv", recv, true, slots(len(near.Sources)))
	if err != nil {
		return err
	}
	in, from, err := wideOf(call, "send", send, false, slots(len(near.Dests)))
	if err != nil {
		return err
	}
	x.o.Gaps = &comm.Gaps{In: in, Out: out}
	return x.byBlocks(c, call, coll.NeighborAlltoallw, near, from, to)
}

// byBlocks plans a call with a block for each slot and direction.
func (x *operation) byBlocks(c *Comm, call string, which coll.Call, near *coll.Neighbors, from, to blocks) error {
	for _, own := range near.Own(c.rank) {
		if sends, takes := from.counts[own[0]], to.counts[own[1]]; sends != takes {
			return x.ownDiffers(call, own, sends, takes)
		}
	}
	if x.meet(from, to) {
		return nearbyOverlap(call)
	}
	return x.irregular(c, which, &coll.Shape{Counts: from.counts, Displs: from.displs, RecvCounts: to.counts, RecvDispls: to.displs})
}

// partsOfNeighbors is parts for a call of neighborhoods: what all slots of the peer have
// together. Of a NeighborAlltoallw with several of one rank it is nothing, as these may have
// types of their own.
func (x *operation) partsOfNeighbors(c *Comm, which coll.Call, s *coll.Shape, peer int) (sends, takes part) {
	sum := func(slots []int, n int, counts []int) (first, edges, all int) {
		for slot, rank := range slots {
			if rank == peer {
				if edges++; edges == 1 {
					first = slot
				}
				if counts != nil {
					n = counts[slot]
				}
				all += n
			}
		}
		return first, edges, all
	}
	i, leave, out := sum(c.core.Near.Dests, s.Count, s.Counts)
	j, come, in := sum(c.core.Near.Sources, s.RecvCount, s.RecvCounts)
	if which == coll.NeighborAlltoallw {
		if leave == 1 {
			sends = x.o.Gaps.In.(*wide).bufs[i].whole()
		}
		if come == 1 {
			takes = x.o.Gaps.Out.(*wide).bufs[j].whole()
		}
		return sends, takes
	}
	return x.input(out), x.result(in)
}
