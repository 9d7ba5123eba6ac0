package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/op"
)

// ReduceScatterBlock combines the send of all ranks as Reduce does, and gives rank i
// the i-th block of the result in its recv (MPI_Reduce_scatter_block, MPI-4.0
// §6.10.1). Every rank calls it with the same operator and as many elements in send,
// which is cut into one block for each rank; recv has room for a block. With InPlace
// as send, at all ranks, the input is in recv, the whole of it, and the result at its
// beginning; what is behind it then is undefined. send and recv do not overlap. On an
// intercommunicator each group gets the result of the other one; send, which is as long
// in both groups, is cut into one block for each rank of the local group. Errors are
// those of Allreduce, and ErrCount if the input can't be cut into blocks. Non-local.
func ReduceScatterBlock[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) error {
	const call = "ReduceScatterBlock"
	x := operationOf(send, recv)
	if err := x.reduceScatterBlock(c, call, (*Op)(op), kindOf[T]()); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.ReduceScatterBlock, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IreduceScatterBlock starts a ReduceScatterBlock (MPI_Ireduce_scatter_block, MPI-4.0
// §6.12.9). Until the request has completed, send must not be written to and recv not
// be touched. Errors are those of ReduceScatterBlock. Local.
func IreduceScatterBlock[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.ReduceScatterBlock, x.reduceScatterBlock(c, "IreduceScatterBlock", (*Op)(op), kindOf[T]()))
}

// ReduceScatter is ReduceScatterBlock for blocks of different lengths
// (MPI_Reduce_scatter, MPI-4.0 §6.10.2): rank i gets counts[i] elements of the result, which
// begin behind those of the ranks before it. Every rank of a group passes the same counts;
// send has as many elements as these together, and recv has room for the rank's own. With
// InPlace as send, at all ranks, the input is in recv, the whole of it, and the result at
// its beginning; what is behind it then is undefined. send and recv do not overlap. On an
// intercommunicator each group gets the result of the other one; counts are those of the
// local group, and send is as long in both. Errors are those of Allreduce, ErrArg if there
// is not one count for each rank, and ErrCount for a negative one, or if they are not of as
// many elements as the input. Non-local.
func ReduceScatter[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T, counts []int) error {
	const call = "ReduceScatter"
	x := operationOf(send, recv)
	if err := x.reduceScatter(c, call, (*Op)(op), kindOf[T](), counts); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.ReduceScatter, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IreduceScatter starts a ReduceScatter (MPI_Ireduce_scatter, MPI-4.0 §6.12.10). Until the
// request has completed, send must not be written to and recv not be touched; counts are
// copied. Errors are those of ReduceScatter. Local.
func IreduceScatter[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T, counts []int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.ReduceScatter, x.reduceScatter(c, "IreduceScatter", (*Op)(op), kindOf[T](), counts))
}

// scatters checks what the two calls have in common, and returns the operator's function.
func (x *operation) scatters(c *Comm, call string, o *Op, kind op.Kind) (op.Func, error) {
	if err := c.checkCollective(call); err != nil {
		return nil, err
	}
	if c.remote > 0 && x.here {
		return nil, refuseBetween(call, "send")
	}
	return x.fit(call, o, kind)
}

func (x *operation) reduceScatterBlock(c *Comm, call string, o *Op, kind op.Kind) error {
	f, err := x.scatters(c, call, o, kind)
	if err != nil {
		return err
	}
	k := comm.PlanKey{Call: coll.ReduceScatterBlock, InPlace: x.here}
	if x.here {
		k.Count, err = x.shares(call, "recv", x.recvs, parties{c.size, "rank"})
	} else {
		k.Count, err = x.shares(call, "send", x.sends, parties{c.size, "rank"})
	}
	if err == nil {
		err = x.checkRecv(call, k.Count)
	}
	if err != nil {
		return err
	}
	return x.reduction(c, call, &k, o, kind, f)
}

func (x *operation) reduceScatter(c *Comm, call string, o *Op, kind op.Kind, counts []int) error {
	f, err := x.scatters(c, call, o, kind)
	if err != nil {
		return err
	}
	s := coll.Shape{InPlace: x.here, Commutes: o.Commutes()}
	if err := x.takeCounts(c, call, &s, counts); err != nil {
		return err
	}
	mine := s.Counts[c.rank]
	if err := x.checkRecv(call, mine); err != nil {
		return err
	}
	if mine%x.unit("recv") != 0 {
		return x.cutElements(call, "recv", mine)
	}
	x.o.Combine, x.o.User, x.o.Op = f, o.user(), o.number(kind)
	return x.irregular(c, coll.ReduceScatter, &s)
}

// takeCounts has the shape of a ReduceScatter have its counts. They count elements of the
// type of the buffer that has the input.
func (x *operation) takeCounts(c *Comm, call string, s *coll.Shape, counts []int) error {
	buffer, n := "send", x.sends
	if x.here {
		buffer, n = "recv", x.recvs
	}
	if len(counts) != c.size {
		return badArg(call, ErrArg, "%d counts for %d ranks: there has to be one for each", len(counts), c.size)
	}
	s.Counts = make([]int, c.size)
	unit := x.unit(buffer)
	empty := x.bufs && (x.here && x.recvUnit == 0 || !x.here && x.sendUnit == 0) // elements without data
	for i, k := range counts {
		if k < 0 {
			return badArg(call, ErrCount, "the count of rank %d's block is %d", i, k)
		}
		if empty {
			continue
		}
		if k > (n-s.Count)/unit {
			return badArg(call, ErrCount, "%s has %d elements, and the blocks up to rank %d's have more", buffer, n/unit, i)
		}
		s.Counts[i] = k * unit
		s.Count += k * unit
	}
	if !x.here && s.Count != n {
		return badArg(call, ErrCount, "send has %d elements, the counts are of %d in all", n/unit, s.Count/unit)
	}
	return nil
}
