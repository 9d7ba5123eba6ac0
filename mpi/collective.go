package mpi

import (
	"github.com/weft-mpi/weft/coll"
	"github.com/weft-mpi/weft/comm"
	"github.com/weft-mpi/weft/op"
)

// A collective call is checked by the method of Comm that has its name, the same
// for the blocking and the nonblocking form. Generic functions only turn slices
// into bytes, and call comm themselves, so that reports name the program's line.

// operation is a collective call: its buffers, and once they and the other arguments
// have been checked, its plan. It is filled where it is, as copies would cost as much as
// the call's own work.
type operation struct {
	o    comm.Operands
	plan *coll.Plan

	sends, recvs  int  // lengths of the buffers in elements
	here, instead bool // InPlace was passed as send, as recv
}

func operationOf[T Scalar](send, recv []T) operation {
	return operation{o: comm.Operands{In: bytesOf(send), Out: bytesOf(recv), Elem: sizeOf[T]()},
		sends: len(send), recvs: len(recv), here: isInPlace(send), instead: isInPlace(recv)}
}

// begin starts the operation, if its arguments were right.
func (x *operation) begin(c *Comm, call coll.Call, err error) (Request, error) {
	if err != nil {
		return Request{}, c.raise(err)
	}
	return c.request(c.core.Icollective(c.ctx, call, x.plan, &x.o)), nil
}

// uniform plans a call whose blocks are equally long.
func (x *operation) uniform(c *Comm, k *comm.PlanKey) error {
	k.Elem = x.o.Elem
	x.plan = c.core.Plan(k)
	return nil
}

// reduction plans a call with an operator, whose function is f.
func (x *operation) reduction(c *Comm, k *comm.PlanKey, o *Op, kind op.Kind, f op.Func) error {
	x.o.Combine, x.o.User, x.o.Op = f, o.user(), o.number(kind)
	k.Elem, k.Commutes = x.o.Elem, o.Commutes()
	x.plan = c.core.Plan(k)
	return nil
}

// checkCollective checks the communicator of a call.
func (c *Comm) checkCollective(call string) error {
	if c.gone() {
		return c.wrong(call, 0, 0, false)
	}
	return nil
}

// checkRooted checks the communicator and the root.
func (c *Comm) checkRooted(call string, root int) error {
	switch {
	case c.gone():
		return c.wrong(call, 0, 0, false)
	case c.remote > 0:
		return c.checkRemoteRoot(call, root)
	case uint(root) >= uint(c.size):
		return badArg(call, ErrRoot, "root %d is not in %s of %d ranks (0 to %d)", root, c.called(), c.size, c.size-1)
	}
	return nil
}

// checkRecv checks the buffers of a call that puts n elements into recv.
func (x *operation) checkRecv(call string, n int) error {
	switch {
	case x.instead:
		return badArg(call, ErrBuffer, "InPlace as recv: the result needs a buffer")
	case x.recvs < n:
		return badArg(call, ErrBuffer, "recv has %d elements, the result %d", x.recvs, n)
	case !x.here && overlap(x.o.In, x.o.Out[:n*x.o.Elem]):
		return x.overlaps(call)
	}
	return nil
}

func (x *operation) overlaps(call string) error {
	return badArg(call, ErrBuffer, "send and recv overlap: give two buffers, or within one group InPlace as send if the input is where the result comes")
}

// shares cuts n elements of a buffer into one block for each of so many ranks.
func shares(call, buffer string, n, ranks int) (int, error) {
	if n%ranks != 0 {
		return 0, badArg(call, ErrCount, "the %d elements of %s can't be cut into %d blocks of one length, one for each rank", n, buffer, ranks)
	}
	return n / ranks, nil
}

// refuseHere is for calls without an InPlace as send at this rank.
func refuseHere(call, why string) error {
	return badArg(call, ErrBuffer, "InPlace as send: %s", why)
}
