package mpi

import (
	"slices"

	"github.com/weft-mpi/weft/progress"
)

// Sendrecv sends one message and receives another without the deadlock that a
// Send and a Recv in the wrong order are (MPI_Sendrecv, MPI-4.0 §3.2.7). The
// buffers must not overlap. It ends with ErrProcFailed when either of the two
// ranks dies; while both live it waits for them, whoever else has died.
// Non-local.
func Sendrecv[S, R Scalar](c *Comm, sendbuf []S, dest, sendtag int, recvbuf []R, source, recvtag int) (Status, error) {
	const call = "Sendrecv"
	if err := c.checkSendrecv(call, dest, sendtag, source, recvtag); err != nil {
		return nullStatus, err
	}
	return c.sendrecv(call, c.cid, bytesOf(sendbuf), dest, sendtag, bytesOf(recvbuf), source, recvtag)
}

// sendrecv receives behind a send that goes at once, as most do, and otherwise
// waits for both as one operation.
func (c *Comm) sendrecv(call string, cid uint32, out []byte, dest, sendtag int, in []byte, source, recvtag int) (Status, error) {
	if dest == ProcNull || c.p2p.TrySend(dest, cid, int32(sendtag), out) {
		if source == ProcNull {
			return nullStatus, nil
		}
		res, err := c.p2p.Recv(c.ctx, source, cid, int32(recvtag), in)
		return statusOf(res), fail(call, err)
	}
	both := c.p2p.Isendrecv(c.ctx, cid, out, dest, int32(sendtag), in, source, int32(recvtag))
	res, err := progress.WaitResult(&both)
	return statusOf(res), fail(call, err)
}

// SendrecvReplace is Sendrecv with one buffer, in which the message received
// takes the place of the one sent (MPI_Sendrecv_replace, MPI-4.0 §3.2.7).
// Non-local.
func SendrecvReplace[T Scalar](c *Comm, buf []T, dest, sendtag, source, recvtag int) (Status, error) {
	const call = "SendrecvReplace"
	if err := c.checkSendrecv(call, dest, sendtag, source, recvtag); err != nil {
		return nullStatus, err
	}
	return c.sendrecv(call, c.cid, slices.Clone(bytesOf(buf)), dest, sendtag, bytesOf(buf), source, recvtag)
}

// Isendrecv starts a send and a receive as one operation, which completes when
// both have, with the status of the receive (MPI_Isendrecv, MPI-4.0 §3.7.2). The
// buffers must not overlap. Local.
func Isendrecv[S, R Scalar](c *Comm, sendbuf []S, dest, sendtag int, recvbuf []R, source, recvtag int) (Request, error) {
	if err := c.checkSendrecv("Isendrecv", dest, sendtag, source, recvtag); err != nil {
		return Request{}, err
	}
	return Request{c.p2p.Isendrecv(c.ctx, c.cid, bytesOf(sendbuf), dest, int32(sendtag), bytesOf(recvbuf), source, int32(recvtag))}, nil
}

// IsendrecvReplace is Isendrecv with one buffer (MPI_Isendrecv_replace, MPI-4.0
// §3.7.2). Local.
func IsendrecvReplace[T Scalar](c *Comm, buf []T, dest, sendtag, source, recvtag int) (Request, error) {
	if err := c.checkSendrecv("IsendrecvReplace", dest, sendtag, source, recvtag); err != nil {
		return Request{}, err
	}
	b := bytesOf(buf)
	return Request{c.p2p.Isendrecv(c.ctx, c.cid, slices.Clone(b), dest, int32(sendtag), b, source, int32(recvtag))}, nil
}

func (c *Comm) checkSendrecv(call string, dest, sendtag, source, recvtag int) error {
	if err := c.checkSend(call, dest, sendtag); err != nil {
		return err
	}
	return c.checkRecv(call, source, recvtag)
}
