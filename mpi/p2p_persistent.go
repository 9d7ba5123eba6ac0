package mpi

import (
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// SendInit makes a persistent Send (MPI_Send_init, MPI-4.0 §3.9). Start begins
// it, Wait or Test completes it, and then Start may begin it again, until
// RequestFree. buf must not be written to while the request is active. Errors are those
// of Send. Local.
func SendInit[T Scalar](c *Comm, buf []T, dest, tag int) (Request, error) {
	return sendInit(c, "SendInit", pt2pt.Standard, buf, dest, tag)
}

// SsendInit makes a persistent Ssend (MPI_Ssend_init, MPI-4.0 §3.9). Errors are those
// of Ssend. Local.
func SsendInit[T Scalar](c *Comm, buf []T, dest, tag int) (Request, error) {
	return sendInit(c, "SsendInit", pt2pt.Synchronous, buf, dest, tag)
}

// RsendInit makes a persistent Rsend (MPI_Rsend_init, MPI-4.0 §3.9). Errors are those
// of Rsend. Local.
func RsendInit[T Scalar](c *Comm, buf []T, dest, tag int) (Request, error) {
	return sendInit(c, "RsendInit", pt2pt.Ready, buf, dest, tag)
}

// BsendInit makes a persistent Bsend (MPI_Bsend_init, MPI-4.0 §3.9): every Start
// takes a copy of buf. Errors are those of Bsend. Local.
func BsendInit[T Scalar](c *Comm, buf []T, dest, tag int) (Request, error) {
	return sendInit(c, "BsendInit", pt2pt.Buffered, buf, dest, tag)
}

func sendInit[T Scalar](c *Comm, call string, mode pt2pt.Mode, buf []T, dest, tag int) (Request, error) {
	if err := c.checkSend(call, dest, tag); err != nil {
		return Request{}, err
	}
	if c.signs {
		return c.sendInitBuf(call, mode, Of(buf), dest, tag)
	}
	return c.request(c.p2p.SendInit(c.ctx, mode, c.world(dest), c.cid, int32(tag), bytesOf(buf))), nil
}

// RecvInit makes a persistent Recv (MPI_Recv_init, MPI-4.0 §3.9). buf must not
// be touched while the request is active. Errors are those of Recv. Local.
func RecvInit[T Scalar](c *Comm, buf []T, source, tag int) (Request, error) {
	if err := c.checkRecv("RecvInit", source, tag); err != nil {
		return Request{}, err
	}
	if c.signs {
		return c.RecvInit(Of(buf), source, tag)
	}
	return c.request(c.p2p.RecvInit(c.ctx, c.world(source), c.cid, int32(tag), bytesOf(buf))), nil
}

// Start begins a persistent operation (MPI_Start, MPI-4.0 §3.9). If it is active
// already, or the request is not persistent, the error is ErrRequest. Local.
func Start(r *Request) error {
	if r == nil {
		return noRequest("Start")
	}
	if err := progress.Restart(r.h); err != nil {
		return r.fail("Start", err)
	}
	return nil
}

// Startall is Start for each of the requests, in order (MPI_Startall, MPI-4.0
// §3.9). It stops at the first that can't be started, whose index the error names.
// Errors are those of Start. Local.
func Startall(requests []Request) error {
	if err := progress.RestartAll(handles(requests)); err != nil {
		return failOf("Startall", requests, err)
	}
	return nil
}

// RequestFree gives a request up and sets the handle to null (MPI_Request_free,
// MPI-4.0 §3.7.3). An operation under way, also one of a persistent request
// (§3.9), continues, but its completion is not reported: its buffer may be used
// again only once the program knows of it in another way. The request is then
// freed. For a generalized request whose operation has completed, free is
// called, and its error returned. A collective operation under way can't be given up
// (MPI-4.0 §6.12), nor can a persistent collective or a partitioned one between Start and
// the call that completes it (MPI-4.1 §4.2.1): that is ErrRequest, and the handle stays.
// Local.
func RequestFree(r *Request) error {
	if r == nil {
		return noRequest("RequestFree")
	}
	was := *r
	g, err := progress.Release(&r.h)
	if g != nil && g.Free != nil {
		err = g.Free()
	}
	return was.fail("RequestFree", err)
}
