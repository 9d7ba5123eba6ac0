package mpi

import "github.com/weft-mpi/weft/internal/pt2pt"

// SendInit makes a persistent Send (MPI_Send_init, MPI-4.0 §3.9). Start begins it, Wait
// or Test completes it, and then Start may begin it again, until RequestFree. b's memory
// must not be written to while the request is active. Errors are those of Send. Local.
func (c *Comm) SendInit(b Buf, dest, tag int) (Request, error) {
	return c.sendInitBuf("SendInit", pt2pt.Standard, b, dest, tag)
}

// SsendInit makes a persistent Ssend (MPI_Ssend_init, MPI-4.0 §3.9). Errors are those
// of Ssend. Local.
func (c *Comm) SsendInit(b Buf, dest, tag int) (Request, error) {
	return c.sendInitBuf("SsendInit", pt2pt.Synchronous, b, dest, tag)
}

// RsendInit makes a persistent Rsend (MPI_Rsend_init, MPI-4.0 §3.9). Errors are those
// of Rsend. Local.
func (c *Comm) RsendInit(b Buf, dest, tag int) (Request, error) {
	return c.sendInitBuf("RsendInit", pt2pt.Ready, b, dest, tag)
}

// BsendInit makes a persistent Bsend (MPI_Bsend_init, MPI-4.0 §3.9): every Start takes a
// copy of b. Errors are those of Bsend. Local.
func (c *Comm) BsendInit(b Buf, dest, tag int) (Request, error) {
	return c.sendInitBuf("BsendInit", pt2pt.Buffered, b, dest, tag)
}

// RecvInit makes a persistent Recv (MPI_Recv_init, MPI-4.0 §3.9). b's memory must not be
// touched while the request is active. Errors are those of Recv. Local.
func (c *Comm) RecvInit(b Buf, source, tag int) (Request, error) {
	const call = "RecvInit"
	if err := c.checkRecv(call, source, tag); err != nil {
		return Request{}, err
	}
	d, err := c.data(call, "b", &b, source, true)
	if err != nil {
		return Request{}, err
	}
	return c.request(c.p2p.RecvInitData(c.ctx, c.world(source), c.cid, int32(tag), &d)), nil
}

func (c *Comm) sendInitBuf(call string, mode pt2pt.Mode, b Buf, dest, tag int) (Request, error) {
	if err := c.checkSend(call, dest, tag); err != nil {
		return Request{}, err
	}
	d, err := c.data(call, "b", &b, dest, false)
	if err != nil {
		return Request{}, err
	}
	return c.request(c.p2p.SendInitData(c.ctx, mode, c.world(dest), c.cid, int32(tag), &d)), nil
}
