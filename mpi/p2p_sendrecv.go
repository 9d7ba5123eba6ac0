package mpi

import "slices"

// Sendrecv sends one message and receives another, without the deadlock that a
// Send and a Recv in the wrong order can cause (MPI_Sendrecv, MPI-4.0 §3.2.7).
// The buffers must not overlap. It fails with ErrBuffer if they do, and with
// ErrProcFailed when either of the two ranks dies; while both live it waits for
// them, even if other ranks have died. Other errors are those of Send and Recv.
// Non-local.
func Sendrecv[S, R Scalar](c *Comm, sendbuf []S, dest, sendtag int, recvbuf []R, source, recvtag int) (Status, error) {
	const call = "Sendrecv"
	if err := c.checkSendrecv(call, dest, sendtag, source, recvtag); err != nil {
		return nullStatus, err
	}
	if c.signs {
		return c.Sendrecv(Of(sendbuf), dest, sendtag, Of(recvbuf), source, recvtag)
	}
	out, in := bytesOf(sendbuf), bytesOf(recvbuf)
	if overlap(out, in) && dest != ProcNull && source != ProcNull {
		return nullStatus, c.raise(errOverlap(call, "sendbuf", "recvbuf"))
	}
	res, err := c.core.Sendrecv(c.ctx, out, c.world(dest), int32(sendtag), in, c.world(source), int32(recvtag))
	return statusOf(res), c.fail(call, err)
}

// SendrecvReplace is Sendrecv with one buffer, in which the received message
// replaces the sent one (MPI_Sendrecv_replace, MPI-4.0 §3.2.7). Errors are those of
// Sendrecv. Non-local.
func SendrecvReplace[T Scalar](c *Comm, buf []T, dest, sendtag, source, recvtag int) (Status, error) {
	const call = "SendrecvReplace"
	if err := c.checkSendrecv(call, dest, sendtag, source, recvtag); err != nil {
		return nullStatus, err
	}
	if c.signs {
		return c.SendrecvReplace(Of(buf), dest, sendtag, source, recvtag)
	}
	b := bytesOf(buf)
	res, err := c.core.Sendrecv(c.ctx, slices.Clone(b), c.world(dest), int32(sendtag), b, c.world(source), int32(recvtag))
	return statusOf(res), c.fail(call, err)
}

// Isendrecv starts a send and a receive as one operation, which completes when
// both have, with the status of the receive (MPI_Isendrecv, MPI-4.0 §3.7.2). The
// buffers must not overlap. Errors are those of Sendrecv. Local.
func Isendrecv[S, R Scalar](c *Comm, sendbuf []S, dest, sendtag int, recvbuf []R, source, recvtag int) (Request, error) {
	const call = "Isendrecv"
	if err := c.checkSendrecv(call, dest, sendtag, source, recvtag); err != nil {
		return Request{}, err
	}
	if c.signs {
		return c.Isendrecv(Of(sendbuf), dest, sendtag, Of(recvbuf), source, recvtag)
	}
	out, in := bytesOf(sendbuf), bytesOf(recvbuf)
	if overlap(out, in) && dest != ProcNull && source != ProcNull {
		return Request{}, c.raise(errOverlap(call, "sendbuf", "recvbuf"))
	}
	return c.request(c.p2p.Isendrecv(c.ctx, c.cid, out, c.world(dest), int32(sendtag), in, c.world(source), int32(recvtag))), nil
}

// IsendrecvReplace is Isendrecv with one buffer (MPI_Isendrecv_replace, MPI-4.0
// §3.7.2). Errors are those of Isendrecv. Local.
func IsendrecvReplace[T Scalar](c *Comm, buf []T, dest, sendtag, source, recvtag int) (Request, error) {
	if err := c.checkSendrecv("IsendrecvReplace", dest, sendtag, source, recvtag); err != nil {
		return Request{}, err
	}
	if c.signs {
		return c.IsendrecvReplace(Of(buf), dest, sendtag, source, recvtag)
	}
	b := bytesOf(buf)
	return c.request(c.p2p.Isendrecv(c.ctx, c.cid, slices.Clone(b), c.world(dest), int32(sendtag), b, c.world(source), int32(recvtag))), nil
}

// errOverlap is the error of two buffers of a call that have memory in common.
func errOverlap(call, a, b string) error {
	return badArg(call, ErrBuffer, "%s and %s overlap: give two buffers that are apart", a, b)
}

func (c *Comm) checkSendrecv(call string, dest, sendtag, source, recvtag int) error {
	if err := c.checkSend(call, dest, sendtag); err != nil {
		return err
	}
	return c.checkRecv(call, source, recvtag)
}
