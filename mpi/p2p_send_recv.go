package mpi

import "github.com/weft-mpi/weft/internal/pt2pt"

// Send sends buf to rank dest (MPI_Send, MPI-4.0 §3.2.1). It blocks until buf
// may be used again, which may be before a receive is posted. It fails with ErrComm
// also if dest frees the communicator without receiving the message. Non-local.
func Send[T Scalar](c *Comm, buf []T, dest, tag int) error {
	if !c.plain(dest, tag) {
		if err := c.explain("Send", dest, tag, false); err != nil || dest == ProcNull {
			return err
		}
		if c.signs {
			return c.Send(Of(buf), dest, tag)
		}
	}
	if err := c.p2p.Send(c.ctx, pt2pt.Standard, c.world(dest), c.cid, int32(tag), bytesOf(buf)); err != nil {
		return c.fail("Send", err)
	}
	return nil
}

// Recv receives a message of at most len(buf) elements from source with tag;
// either may be a wildcard (MPI_Recv, MPI-4.0 §3.2.4). It blocks until the
// message is in buf. A longer message is consumed: its beginning is received,
// the status has its length, and the error is ErrTruncate. With WithTypeChecks elements
// of other types are ErrType. From AnySource it fails with ErrProcFailedPending if a
// rank has died (AckFailed). Non-local.
func Recv[T Scalar](c *Comm, buf []T, source, tag int) (Status, error) {
	if !c.plain(source, tag) {
		if err := c.explain("Recv", source, tag, true); err != nil || source == ProcNull {
			return nullStatus, err
		}
		if c.signs {
			return c.Recv(Of(buf), source, tag)
		}
	}
	res, err := c.p2p.Recv(c.ctx, c.world(source), c.cid, int32(tag), bytesOf(buf))
	if err != nil {
		return statusOf(res), c.fail("Recv", err)
	}
	return statusOf(res), nil
}

// Isend starts a send (MPI_Isend, MPI-4.0 §3.7.2). buf must not be written to
// until the request has completed. Errors are those of Send. Local.
func Isend[T Scalar](c *Comm, buf []T, dest, tag int) (Request, error) {
	if err := c.checkSend("Isend", dest, tag); err != nil || dest == ProcNull {
		return c.nullRequest(err)
	}
	if c.signs {
		return c.Isend(Of(buf), dest, tag)
	}
	return c.request(c.p2p.Isend(c.ctx, pt2pt.Standard, c.world(dest), c.cid, int32(tag), bytesOf(buf))), nil
}

// Irecv starts a receive (MPI_Irecv, MPI-4.0 §3.7.2). buf must not be touched
// until the request has completed. Errors are those of Recv. Local.
func Irecv[T Scalar](c *Comm, buf []T, source, tag int) (Request, error) {
	if err := c.checkRecv("Irecv", source, tag); err != nil || source == ProcNull {
		return c.nullRequest(err)
	}
	if c.signs {
		return c.Irecv(Of(buf), source, tag)
	}
	return c.request(c.p2p.Irecv(c.ctx, c.world(source), c.cid, int32(tag), bytesOf(buf))), nil
}

// nullRequest is the request of an operation with ProcNull.
func (c *Comm) nullRequest(err error) (Request, error) {
	if err != nil {
		return Request{}, err
	}
	return c.request(c.p2p.Null()), nil
}
