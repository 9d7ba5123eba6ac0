package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/op"
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

	// A call with Bufs (coll_buf.go) counts bytes as its elements, or with an
	// operator what that combines. The units are how many are an element of a Buf's type.
	bufs               bool
	sendUnit, recvUnit int
	inBlocks           bool       // recv has blocks: only elements of one may not overlap
	gapped             *twoGapped // nil: no memory with gaps

	// The types of the elements, for signatures: of slices a nil pointer to an element, which
	// costs less than its kind, of Bufs theirs, whether or not they are used.
	pointer            any
	sendType, recvType *Datatype
}

func operationOf[T Scalar](send, recv []T) operation {
	return operation{o: comm.Operands{In: bytesOf(send), Out: bytesOf(recv), Elem: sizeOf[T]()},
		sends: len(send), recvs: len(recv), here: isInPlace(send), instead: isInPlace(recv), pointer: (*T)(nil)}
}

// begin starts the operation, if its arguments were right.
func (x *operation) begin(c *Comm, call coll.Call, err error) (Request, error) {
	if err != nil {
		return Request{}, c.raise(err)
	}
	return c.request(c.core.Icollective(c.ctx, call, x.plan, &x.o)), nil
}

// prepare makes it a persistent one, if its arguments were right.
func (x *operation) prepare(c *Comm, call coll.Call, err error) (Request, error) {
	if err != nil {
		return Request{}, c.raise(err)
	}
	h, err := c.core.Persist(c.ctx, call, x.plan, &x.o)
	if err == nil {
		return c.request(h), nil
	}
	name := call.String() + "Init"
	if call == coll.Barrier || call == coll.Alltoallw || call == coll.NeighborAlltoallw { // which are methods only
		name = "Comm." + name
	}
	return Request{}, c.fail(name, err)
}

// uniform plans a call whose blocks are equally long.
func (x *operation) uniform(c *Comm, call string, k *comm.PlanKey) error {
	k.Elem = x.o.Elem
	if x.bufs {
		if err := x.wholeElements(c, call, k); err != nil {
			return err
		}
	}
	x.plan = c.core.Plan(k)
	if c.compares {
		x.compare(c, k.Call, &coll.Shape{Root: k.Root, Count: k.Count, RecvCount: k.RecvCount, InPlace: k.InPlace})
	}
	return nil
}

// reduction plans a call with an operator, whose function is f.
func (x *operation) reduction(c *Comm, call string, k *comm.PlanKey, o *Op, kind op.Kind, f op.Func) error {
	x.o.Combine, x.o.User, x.o.Op = f, o.user(), o.number(kind)
	k.Commutes = o.Commutes()
	return x.uniform(c, call, k)
}

// fit returns the operator's function for the elements.
func (x *operation) fit(call string, o *Op, kind op.Kind) (op.Func, error) {
	if x.bufs { // it has been found by their types
		return x.o.Combine, nil
	}
	return o.fit(call, kind)
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
		return notIn(call, ErrRoot, "root", root, c.called(), c.size)
	}
	return nil
}

// checkRecv checks the buffers of a call that puts n elements into recv.
func (x *operation) checkRecv(call string, n int) error {
	switch {
	case x.instead:
		return badArg(call, ErrBuffer, "InPlace as recv: the result needs a buffer")
	case x.recvs < n:
		return badArg(call, ErrBuffer, "recv has %d %s, the result %d", x.recvs, x.counted(), n)
	case !x.here && x.overlap(n):
		return x.overlaps(call)
	}
	return nil
}

// counted is what the call counts.
func (x *operation) counted() string {
	if x.bufs && x.o.Combine == nil {
		return "bytes"
	}
	return "elements"
}

// overlap reports whether send and the first n elements of recv have memory in common.
func (x *operation) overlap(n int) bool {
	if x.o.Gaps == nil {
		return overlap(x.o.In, x.o.Out[:n*x.o.Elem])
	}
	return x.hullsMeet() && x.meet(one(x.sends), one(n))
}

func (x *operation) overlaps(call string) error {
	return badArg(call, ErrBuffer, "send and recv overlap: give two buffers, or within one group InPlace as send if the input is where the result comes")
}

// shares cuts the n elements of a buffer, send or recv, into one block for each of the
// parties, of which there may be none.
func (x *operation) shares(call, buffer string, n int, of parties) (int, error) {
	unit := 1
	if x.bufs {
		unit = x.unit(buffer)
	}
	if each := max(of.n, 1); n/unit%each == 0 {
		return n / each, nil
	}
	return 0, badArg(call, ErrCount, "the %d elements of %s can't be cut into %d blocks of one length, one for each %s", n/unit, buffer, of.n, of.name)
}

// unit is how many elements are counted for each of a buffer's type, at least 1.
func (x *operation) unit(buffer string) int {
	if buffer == "send" {
		return max(x.sendUnit, 1)
	}
	return max(x.recvUnit, 1)
}

// refuseHere is for calls without an InPlace as send at this rank.
func refuseHere(call, why string) error {
	return badArg(call, ErrBuffer, "InPlace as send: %s", why)
}
