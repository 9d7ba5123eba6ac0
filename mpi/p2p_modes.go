package mpi

import "github.com/weft-mpi/weft/internal/pt2pt"

// Ssend is Send that returns only once the receive has begun (MPI_Ssend,
// MPI-4.0 §3.4, synchronous mode). Errors are those of Send. Non-local.
func Ssend[T Scalar](c *Comm, buf []T, dest, tag int) error {
	return send(c, "Ssend", pt2pt.Synchronous, buf, dest, tag)
}

// Rsend is Send for a receive that is posted already (MPI_Rsend, MPI-4.0 §3.4,
// ready mode). If it is not, the program is wrong: the message is kept all the
// same, the receiver logs it, and a send that still waits for the receiver
// fails. A long message waits for the next call of a receiver without a progress thread.
// Errors are those of Send, and ErrOther with ErrNotReady. Local.
func Rsend[T Scalar](c *Comm, buf []T, dest, tag int) error {
	return send(c, "Rsend", pt2pt.Ready, buf, dest, tag)
}

// Bsend sends a copy of buf and returns at once (MPI_Bsend, MPI-4.0 §3.4,
// buffered mode). The copy lies in memory given by Comm.BufferAttach or
// World.BufferAttach. Without room there the error is of class ErrBuffer, a
// NoBufferError has the sizes, and nothing is sent. A short message that can
// leave at once needs no room. Other errors are those of Send. Local.
func Bsend[T Scalar](c *Comm, buf []T, dest, tag int) error {
	return send(c, "Bsend", pt2pt.Buffered, buf, dest, tag)
}

func send[T Scalar](c *Comm, call string, mode pt2pt.Mode, buf []T, dest, tag int) error {
	if err := c.checkSend(call, dest, tag); err != nil || dest == ProcNull {
		return err
	}
	if c.signs {
		return c.sendBuf(call, mode, Of(buf), dest, tag)
	}
	return c.fail(call, c.p2p.Send(c.ctx, mode, c.world(dest), c.cid, int32(tag), bytesOf(buf)))
}

// Issend starts an Ssend (MPI_Issend, MPI-4.0 §3.7.2). buf must not be written
// to until the request has completed. Errors are those of Ssend. Local.
func Issend[T Scalar](c *Comm, buf []T, dest, tag int) (Request, error) {
	return isend(c, "Issend", pt2pt.Synchronous, buf, dest, tag)
}

// Irsend starts an Rsend (MPI_Irsend, MPI-4.0 §3.7.2). buf must not be written
// to until the request has completed. Errors are those of Rsend. Local.
func Irsend[T Scalar](c *Comm, buf []T, dest, tag int) (Request, error) {
	return isend(c, "Irsend", pt2pt.Ready, buf, dest, tag)
}

// Ibsend starts a Bsend (MPI_Ibsend, MPI-4.0 §3.7.2), whose completion is local
// too. Errors are those of Bsend. Local.
func Ibsend[T Scalar](c *Comm, buf []T, dest, tag int) (Request, error) {
	return isend(c, "Ibsend", pt2pt.Buffered, buf, dest, tag)
}

func isend[T Scalar](c *Comm, call string, mode pt2pt.Mode, buf []T, dest, tag int) (Request, error) {
	if err := c.checkSend(call, dest, tag); err != nil || dest == ProcNull {
		return c.nullRequest(err)
	}
	if c.signs {
		return c.isendBuf(call, mode, Of(buf), dest, tag)
	}
	return c.request(c.p2p.Isend(c.ctx, mode, c.world(dest), c.cid, int32(tag), bytesOf(buf))), nil
}
