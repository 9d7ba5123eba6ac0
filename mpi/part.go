package mpi

import (
	"errors"
	"iter"

	"github.com/weft-mpi/weft/partitioned"
	"github.com/weft-mpi/weft/progress"
)

// PartitionError is in the error of a call that names a Partition that the
// operation does not have, 0 to Partitions-1, or one that was made ready before
// (Twice); of class ErrArg.
type PartitionError = partitioned.PartitionError

// SizeError is in the error of both sides of a partitioned operation whose send
// and receive are not of the same number of bytes: Sent and Received, in SendParts
// and ReceiveParts partitions. It is of class ErrTruncate.
type SizeError = partitioned.SizeError

// GoneError is in the error of a side of a partitioned operation whose other side has been
// given up: it has been freed, say, or its context has ended. Rank is that side's, in the
// communicator, or if Remote is set in the remote group, and Sends says that it is the send.
// It is of class ErrRevoked if Revoked reports that a revocation was the reason, else of
// ErrOther.
type GoneError = partitioned.GoneError

// UnreadError is in the error of a partitioned send whose receiver, Rank as in GoneError, could
// not read the partitions; of class ErrOther.
type UnreadError = partitioned.UnreadError

// PsendInit makes a partitioned send of buf, which has partitions of one size
// side by side (MPI_Psend_init, MPI-4.0 §4.2.1). Start begins a round, then every
// partition is made ready once by Ready, from any goroutine, and Wait or Test completes
// the round; Start may begin the next one until Free. A partition must not be written
// to from its Ready to the end of the round.
//
// It matches the PrecvInit of dest with the same tag on the communicator, in the
// order of the calls, and no other receive. Both sides have the same number of
// bytes; their partitions may differ in number. partitions is at least 1 and
// divides len(buf). The operation ends with the communicator's context, and then
// for both sides. A round fails with ErrOther if dest frees the communicator without
// such a PrecvInit, or gives its side up, as it does by Free between rounds or with its
// context, with ErrRevoked if the communicator is revoked, and with ErrTruncate if the
// sides differ in length; the call with
// ErrArg for a wrong number of partitions and ErrCount if they can't be of one size.
// Local.
func PsendInit[T Scalar](c *Comm, buf []T, partitions, dest, tag int) (*Partitioned, error) {
	const call = "PsendInit"
	if err := c.checkParts(call, len(buf), partitions, dest, tag); err != nil {
		return nil, err
	}
	d := partitioned.Data{Bytes: bytesOf(buf), Ranks: c.ranks}
	return c.parted(c.core.Instance().Parts.PsendInitData(c.ctx, c.world(dest), c.cid, int32(tag), &d, partitions).Request()), nil
}

// PrecvInit makes a partitioned receive into buf (MPI_Precv_init, MPI-4.0
// §4.2.1), the other side of a PsendInit of source, which is a rank or ProcNull.
// Neither source nor tag may be a wildcard. buf must not be touched while a round
// is under way, but for partitions that have arrived (Arrived). Errors are those of
// PsendInit. Local.
func PrecvInit[T Scalar](c *Comm, buf []T, partitions, source, tag int) (*Partitioned, error) {
	const call = "PrecvInit"
	if err := c.checkParts(call, len(buf), partitions, source, tag); err != nil {
		return nil, err
	}
	d := partitioned.Data{Bytes: bytesOf(buf), Ranks: c.ranks}
	return c.parted(c.core.Instance().Parts.PrecvInitData(c.ctx, c.world(source), c.cid, int32(tag), &d, partitions).Request()), nil
}

func (c *Comm) checkParts(call string, n, partitions, peer, tag int) error {
	if err := c.checkSend(call, peer, tag); err != nil {
		return err
	}
	switch {
	case partitions < 1 || partitions > maxPartitions:
		return c.raise(badArg(call, ErrArg, "%d partitions: there are at least 1 and at most %d", partitions, maxPartitions))
	case n%partitions != 0:
		return c.raise(badArg(call, ErrCount, "%d elements can't be cut into %d partitions of one size", n, partitions))
	}
	return nil
}

// maxPartitions is the most partitions of an operation.
const maxPartitions = partitioned.MaxParts

// Partitioned is the handle of a partitioned operation, which goroutines share to make
// its partitions ready, or to see them arrive. One of them starts the rounds and waits
// for their ends. It is usable until Free.
type Partitioned struct {
	// Request is the operation's, a persistent one: for Startall, Waitall and the calls
	// with MPI's names, such as Pready. A copy does as well.
	Request Request

	send *partitioned.Send
	recv *partitioned.Recv
}

func (c *Comm) parted(h progress.Handle) *Partitioned { return c.request(h).partitions() }

// handle is the address of the request, or nil if p is.
func (p *Partitioned) handle() *Request {
	if p == nil {
		return nil
	}
	return &p.Request
}

// Start begins a round (MPI_Start, MPI-4.0 §3.9). ErrRequest says that one is under
// way. Local.
func (p *Partitioned) Start() error { return Start(p.handle()) }

// Wait blocks until the round has completed (MPI_Wait, MPI-4.0 §3.7.3), with its error.
// Errors are those of the function Wait, and ErrTruncate if the sides differ in length.
// Non-local.
func (p *Partitioned) Wait() (Status, error) { return Wait(p.handle()) }

// Test reports whether the round has completed, and if so does as Wait (MPI_Test, MPI-4.0
// §3.7.3). Errors are those of Wait. Local.
func (p *Partitioned) Test() (bool, Status, error) { return Test(p.handle()) }

// Free gives the operation up (MPI_Request_free, MPI-4.0 §3.7.3). A round that is under
// way, or whose end nobody has waited for, can't be given up (MPI-4.1 §4.2.1): that is
// ErrRequest. Other errors are those of RequestFree. Local.
func (p *Partitioned) Free() error { return RequestFree(p.handle()) }

// Partitions returns a handle of the operation whose request PsendInit or PrecvInit has
// returned, or nil for another request; the calls on nil fail with ErrRequest. Local.
func Partitions(r Request) *Partitioned {
	if p := r.partitions(); p.send != nil || p.recv != nil {
		return p
	}
	return nil
}

// partitions is Partitions that keeps the request where it is of neither kind, for
// the error.
func (r Request) partitions() *Partitioned {
	p := &Partitioned{Request: r}
	switch o := r.h.Object().(type) {
	case *partitioned.Send:
		p.send = o
	case *partitioned.Recv:
		p.recv = o
	}
	return p
}

func (p *Partitioned) request() (r Request) {
	if p != nil {
		r = p.Request
	}
	return r
}

// Len is the number of partitions, or 0 if p is nil. Local.
func (p *Partitioned) Len() int {
	switch {
	case p == nil || p.send == nil && p.recv == nil:
		return 0
	case p.send != nil:
		return p.send.Partitions()
	}
	return p.recv.Partitions()
}

// Ready makes partition i of a send ready (MPI_Pready, MPI-4.0 §4.2.1): its
// bytes do not change any more until the round has completed, and leave once the
// receiver has started. Small partitions leave together: one may wait until its
// neighbours are ready. Ready takes no lock, allocates nothing and waits
// for nobody; if the receiver's memory can be written to, the caller copies the
// bytes there. Any number of goroutines may call it at once. The error is
// ErrRequest before Start and for a receive, ErrArg for a partition that there is
// not or that is ready already, or that of the round. Local.
func (p *Partitioned) Ready(i int) error { return p.ready("Pready", i, i) }

// ReadyRange is Ready for the partitions from first to last, the last one
// included (MPI_Pready_range, MPI-4.0 §4.2.1). Errors are those of Ready, and ErrArg if
// last is below first. Local.
func (p *Partitioned) ReadyRange(first, last int) error { return p.ready("PreadyRange", first, last) }

// ReadyList is Ready for each of the partitions (MPI_Pready_list, MPI-4.0
// §4.2.1). It stops at the first error. Errors are those of Ready. Local.
func (p *Partitioned) ReadyList(partitions ...int) error {
	for _, i := range partitions {
		if err := p.ready("PreadyList", i, i); err != nil {
			return err
		}
	}
	return nil
}

func (p *Partitioned) ready(call string, first, last int) error {
	if p == nil || p.send == nil {
		return p.request().raise(badArg(call, ErrRequest, "the request is not of PsendInit: only the partitions of a send are made ready"))
	}
	return p.Request.fail(call, p.send.Ready(first, last))
}

// Arrived reports whether partition i of a receive has arrived (MPI_Parrived,
// MPI-4.0 §4.2.2); then its bytes may be read. For a receive that has not been
// started, or whose round has completed, and for the null request it is true. If the partition has not
// arrived the call makes progress. Any number of goroutines may call it at once.
// The error is ErrRequest for a send, ErrArg for a partition that there is not, or
// that of the round. Local.
func (p *Partitioned) Arrived(i int) (bool, error) {
	const call = "Parrived"
	if p.request().Null() {
		return true, nil
	}
	if p.recv == nil {
		return false, p.request().raise(badArg(call, ErrRequest, "the request is not of PrecvInit: only the partitions of a receive arrive"))
	}
	there, err := p.recv.Arrived(i)
	return there, p.Request.fail(call, err)
}

// Arriving yields each partition of a receive once, when it has arrived, in the
// order in which they do. In between it sleeps. It ends after the last partition, or when
// the round fails, as it does when the communicator's context ends; Wait then tells why.
// Non-local.
func (p *Partitioned) Arriving() iter.Seq[int] {
	return func(yield func(int) bool) {
		if p == nil || p.recv == nil {
			return
		}
		left := make([]int, p.recv.Partitions())
		for i := range left {
			left[i] = i
		}
		for {
			news := p.recv.News()
			rest := left[:0]
			for _, i := range left {
				if !p.recv.Has(i) {
					rest = append(rest, i)
				} else if !yield(i) {
					return
				}
			}
			if left = rest; len(left) == 0 || p.recv.Await(news) != nil {
				return
			}
		}
	}
}

// Pready is Partitioned.Ready as a function (MPI_Pready, MPI-4.0 §4.2.1). Errors are
// those of Ready. Local.
func Pready(i int, r Request) error { return r.partitions().Ready(i) }

// PreadyRange is Partitioned.ReadyRange as a function (MPI_Pready_range, MPI-4.0
// §4.2.1). Errors are those of ReadyRange. Local.
func PreadyRange(first, last int, r Request) error { return r.partitions().ReadyRange(first, last) }

// PreadyList is Partitioned.ReadyList as a function (MPI_Pready_list, MPI-4.0
// §4.2.1). Errors are those of ReadyList. Local.
func PreadyList(partitions []int, r Request) error { return r.partitions().ReadyList(partitions...) }

// Parrived is Partitioned.Arrived as a function (MPI_Parrived, MPI-4.0 §4.2.2). Errors
// are those of Arrived. Local.
func Parrived(r Request, i int) (bool, error) { return r.partitions().Arrived(i) }

// partsClass is the class of an error of package partitioned, or 0.
func partsClass(err error) Class {
	var bad *PartitionError
	var size *SizeError
	var gone *GoneError
	switch {
	case errors.As(err, &bad):
		return ErrArg
	case errors.As(err, &size):
		return ErrTruncate
	case errors.Is(err, partitioned.ErrNotStarted):
		return ErrRequest
	case errors.As(err, &gone) && gone.Revoked():
		return ErrRevoked
	}
	return 0
}
