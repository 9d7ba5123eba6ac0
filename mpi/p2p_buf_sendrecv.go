package mpi

import (
	"slices"

	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// Sendrecv sends one message and receives another, without the deadlock that a Send and a
// Recv in the wrong order can cause (MPI_Sendrecv, MPI-4.0 §3.2.7). The elements of the
// two must not overlap. It fails with ErrBuffer if they do, which of two Bufs with gaps their
// first pieces tell, and with ErrProcFailed when either of the two ranks dies. Other errors
// are those of Send and Recv. Non-local.
func (c *Comm) Sendrecv(sendbuf Buf, dest, sendtag int, recvbuf Buf, source, recvtag int) (Status, error) {
	const call = "Sendrecv"
	out, in, err := c.both(call, &sendbuf, dest, sendtag, &recvbuf, source, recvtag)
	if err != nil {
		return nullStatus, err
	}
	return c.exchange(call, &out, dest, sendtag, &in, source, recvtag)
}

// SendrecvReplace is Sendrecv with one buffer, in which the received message replaces the
// sent one (MPI_Sendrecv_replace, MPI-4.0 §3.2.7). Errors are those of Sendrecv.
// Non-local.
func (c *Comm) SendrecvReplace(b Buf, dest, sendtag, source, recvtag int) (Status, error) {
	const call = "SendrecvReplace"
	out, in, err := c.replaced(call, &b, dest, sendtag, source, recvtag)
	if err != nil {
		return nullStatus, err
	}
	return c.exchange(call, &out, dest, sendtag, &in, source, recvtag)
}

// Isendrecv starts a send and a receive as one operation, which completes when both have,
// with the status of the receive (MPI_Isendrecv, MPI-4.0 §3.7.2). The elements of the two
// must not overlap. Errors are those of Sendrecv. Local.
func (c *Comm) Isendrecv(sendbuf Buf, dest, sendtag int, recvbuf Buf, source, recvtag int) (Request, error) {
	out, in, err := c.both("Isendrecv", &sendbuf, dest, sendtag, &recvbuf, source, recvtag)
	if err != nil {
		return Request{}, err
	}
	return c.request(c.startExchange(&out, dest, sendtag, &in, source, recvtag)), nil
}

// IsendrecvReplace is Isendrecv with one buffer (MPI_Isendrecv_replace, MPI-4.0
// §3.7.2). Errors are those of Sendrecv. Local.
func (c *Comm) IsendrecvReplace(b Buf, dest, sendtag, source, recvtag int) (Request, error) {
	out, in, err := c.replaced("IsendrecvReplace", &b, dest, sendtag, source, recvtag)
	if err != nil {
		return Request{}, err
	}
	return c.request(c.startExchange(&out, dest, sendtag, &in, source, recvtag)), nil
}

// both checks the arguments of a call that sends and receives.
func (c *Comm) both(call string, sendbuf *Buf, dest, sendtag int, recvbuf *Buf, source, recvtag int) (out, in pt2pt.Data, err error) {
	if err = c.checkSendrecv(call, dest, sendtag, source, recvtag); err != nil {
		return out, in, err
	}
	if out, err = c.data(call, "sendbuf", sendbuf, dest, false); err == nil {
		in, err = c.data(call, "recvbuf", recvbuf, source, true)
	}
	switch {
	case err != nil, out.Layout == nil && in.Layout == nil && !overlap(out.Bytes, in.Bytes):
	case dest != ProcNull && source != ProcNull && sendbuf.meets(recvbuf):
		err = c.raise(errOverlap(call, "sendbuf", "recvbuf"))
	}
	return out, in, err
}

// replaced is both for one Buf, of which a copy is sent.
func (c *Comm) replaced(call string, b *Buf, dest, sendtag, source, recvtag int) (out, in pt2pt.Data, err error) {
	if err = c.checkSendrecv(call, dest, sendtag, source, recvtag); err != nil {
		return out, in, err
	}
	if in, err = c.locate(call, "b", b, true); err != nil {
		return out, in, err
	}
	if out.Bytes = slices.Clone(in.Bytes); in.Layout != nil {
		out.Bytes = make([]byte, in.Size)
		in.Layout.Pack(out.Bytes, 0)
	}
	return out, in, nil
}

// exchange sends out and receives in.
func (c *Comm) exchange(call string, out *pt2pt.Data, dest, sendtag int, in *pt2pt.Data, source, recvtag int) (Status, error) {
	// Most sends go at once: then the receive is all that is left to wait for.
	if dest == ProcNull || c.p2p.TrySendData(c.world(dest), c.cid, int32(sendtag), out) {
		if source == ProcNull {
			return nullStatus, nil
		}
		res, err := c.p2p.RecvData(c.ctx, c.world(source), c.cid, int32(recvtag), in)
		return statusOf(res), c.fail(call, err)
	}
	res, err := c.p2p.SendrecvData(c.ctx, c.cid, out, c.world(dest), int32(sendtag), in, c.world(source), int32(recvtag))
	return statusOf(res), c.fail(call, err)
}

func (c *Comm) startExchange(out *pt2pt.Data, dest, sendtag int, in *pt2pt.Data, source, recvtag int) progress.Handle {
	return c.p2p.IsendrecvData(c.ctx, c.cid, out, c.world(dest), int32(sendtag), in, c.world(source), int32(recvtag))
}
