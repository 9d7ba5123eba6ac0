package mpi

import "github.com/weft-mpi/weft/internal/pt2pt"

// Ssend is Send that returns only once the receive has begun (MPI_Ssend, MPI-4.0 §3.4,
// synchronous mode). Errors are those of Send. Non-local.
func (c *Comm) Ssend(b Buf, dest, tag int) error {
	return c.sendBuf("Ssend", pt2pt.Synchronous, b, dest, tag)
}

// Rsend is Send for a receive that is posted already (MPI_Rsend, MPI-4.0 §3.4, ready
// mode); see the function Rsend for what happens if it is not. Errors are those of the
// function Rsend and of the Buf. Local.
func (c *Comm) Rsend(b Buf, dest, tag int) error {
	return c.sendBuf("Rsend", pt2pt.Ready, b, dest, tag)
}

// Bsend sends a copy of b and returns at once (MPI_Bsend, MPI-4.0 §3.4, buffered mode).
// The copy lies in memory given by Comm.BufferAttach or World.BufferAttach, without gaps;
// without room there the error is ErrBuffer. Errors are those of the function Bsend and
// of the Buf. Local.
func (c *Comm) Bsend(b Buf, dest, tag int) error {
	return c.sendBuf("Bsend", pt2pt.Buffered, b, dest, tag)
}

// Issend starts an Ssend (MPI_Issend, MPI-4.0 §3.7.2). b's memory must not be written to
// until the request has completed. Errors are those of Ssend. Local.
func (c *Comm) Issend(b Buf, dest, tag int) (Request, error) {
	return c.isendBuf("Issend", pt2pt.Synchronous, b, dest, tag)
}

// Irsend starts an Rsend (MPI_Irsend, MPI-4.0 §3.7.2). b's memory must not be written to
// until the request has completed. Errors are those of Rsend. Local.
func (c *Comm) Irsend(b Buf, dest, tag int) (Request, error) {
	return c.isendBuf("Irsend", pt2pt.Ready, b, dest, tag)
}

// Ibsend starts a Bsend (MPI_Ibsend, MPI-4.0 §3.7.2), whose completion is local too.
// Errors are those of Bsend. Local.
func (c *Comm) Ibsend(b Buf, dest, tag int) (Request, error) {
	return c.isendBuf("Ibsend", pt2pt.Buffered, b, dest, tag)
}
