package mpi

import "github.com/weft-mpi/weft/progress"

// Send sends buf to rank dest (MPI_Send, MPI-4.0 §3.2). It blocks until buf may
// be used again, which may be before a receive is posted. Non-local.
func Send[T Scalar](c *Comm, buf []T, dest, tag int) error {
	if err := c.checkSend("Send", dest, tag); err != nil || dest == ProcNull {
		return err
	}
	if err := c.p2p.Send(c.ctx, dest, c.cid, int32(tag), bytesOf(buf)); err != nil {
		return fail("Send", err)
	}
	return nil
}

// Recv receives a message of at most len(buf) elements from source with tag;
// either may be a wildcard (MPI_Recv, MPI-4.0 §3.2.4). It blocks until the
// message is in buf. A longer message is consumed, its beginning received, its
// length told by the status and the error ErrTruncate. Non-local.
func Recv[T Scalar](c *Comm, buf []T, source, tag int) (Status, error) {
	if err := c.checkRecv("Recv", source, tag); err != nil || source == ProcNull {
		return nullStatus, err
	}
	res, err := c.p2p.Recv(c.ctx, source, c.cid, int32(tag), bytesOf(buf))
	if err != nil {
		return res.Status(), fail("Recv", err)
	}
	return res.Status(), nil
}

// Isend starts a send (MPI_Isend, MPI-4.0 §3.7.2). buf must not be written to
// until the request has completed. Local.
func Isend[T Scalar](c *Comm, buf []T, dest, tag int) (Request, error) {
	if err := c.checkSend("Isend", dest, tag); err != nil || dest == ProcNull {
		return Request{}, err
	}
	return c.p2p.Isend(c.ctx, dest, c.cid, int32(tag), bytesOf(buf)), nil
}

// Irecv starts a receive (MPI_Irecv, MPI-4.0 §3.7.2). buf must not be touched
// until the request has completed. Local.
func Irecv[T Scalar](c *Comm, buf []T, source, tag int) (Request, error) {
	if err := c.checkRecv("Irecv", source, tag); err != nil || source == ProcNull {
		return Request{}, err
	}
	return c.p2p.Irecv(c.ctx, source, c.cid, int32(tag), bytesOf(buf)), nil
}

// Sendrecv sends one message and receives another without the deadlock that a
// Send and a Recv in the wrong order are (MPI_Sendrecv, MPI-4.0 §3.10). The
// buffers must not overlap. Non-local.
func Sendrecv[S, R Scalar](c *Comm, sendbuf []S, dest, sendtag int, recvbuf []R, source, recvtag int) (Status, error) {
	const call = "Sendrecv"
	if err := c.checkSend(call, dest, sendtag); err != nil {
		return nullStatus, err
	}
	if err := c.checkRecv(call, source, recvtag); err != nil {
		return nullStatus, err
	}
	return c.sendrecv(call, c.cid, bytesOf(sendbuf), dest, sendtag, bytesOf(recvbuf), source, recvtag)
}

// sendrecv starts the send and then receives: the send goes on while the
// receive waits.
func (c *Comm) sendrecv(call string, cid uint32, out []byte, dest, sendtag int, in []byte, source, recvtag int) (Status, error) {
	var send Request
	if dest != ProcNull {
		send = c.p2p.Isend(c.ctx, dest, cid, int32(sendtag), out)
	}
	st := nullStatus
	var err, sendErr error
	if source != ProcNull {
		var res progress.Result
		res, err = c.p2p.Recv(c.ctx, source, cid, int32(recvtag), in)
		st = res.Status()
	}
	if !send.Null() && !send.Instant() {
		_, sendErr = progress.Wait(&send)
	}
	if err == nil {
		err = sendErr
	}
	return st, fail(call, err)
}
