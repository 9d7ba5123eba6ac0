package mpi

import (
	"context"

	"github.com/weft-mpi/weft/internal/pt2pt"
)

// BsendOverhead is the attached memory that a buffered send takes besides its
// message, in bytes (MPI_BSEND_OVERHEAD, MPI-4.0 §3.6).
const BsendOverhead = bufferOverhead

const bufferOverhead = pt2pt.BufferOverhead

// BufferAttach gives buf to the buffered sends of all communicators without
// memory of their own, until BufferDetach (MPI_Buffer_attach, MPI-4.0 §3.6). The
// library writes to it meanwhile. There is room wherever the standard's circular
// buffer (§3.6.1) has room; each message takes its bytes and BsendOverhead.
// There is also room as long as all messages under way and the new one fit into
// len(buf) together, even if the free parts of buf are not contiguous: the copy
// is then made in memory of the library, up to len(buf) bytes in all. If memory
// is attached already the error is ErrBuffer. Local.
func (w *World) BufferAttach(buf []byte) error {
	const call = "World.BufferAttach"
	if err := w.check(call); err != nil {
		return err
	}
	return w.fail(call, w.comm.p2p.AttachBuffer(pt2pt.Everywhere, buf))
}

// BufferDetach blocks until all messages in the attached memory have been sent
// and returns the memory (MPI_Buffer_detach, MPI-4.0 §3.6), or fails when ctx
// ends. Without attached memory it returns nil and no error, as if no bytes were
// attached. It has no errors but the general ones. Non-local.
func (w *World) BufferDetach(ctx context.Context) ([]byte, error) {
	const call = "World.BufferDetach"
	if err := w.check(call); err != nil {
		return nil, err
	}
	b, err := w.comm.p2p.DetachBuffer(ctx, pt2pt.Everywhere)
	return b, w.fail(call, err)
}

// BufferFlush blocks until all messages in the attached memory have been sent
// (MPI_Buffer_flush, MPI-4.1 §3.6), or fails when ctx ends. Without attached
// memory it returns at once. It has no errors but the general ones. Non-local.
func (w *World) BufferFlush(ctx context.Context) error {
	const call = "World.BufferFlush"
	if err := w.check(call); err != nil {
		return err
	}
	return w.fail(call, w.comm.p2p.FlushBuffer(ctx, pt2pt.Everywhere))
}

// BufferIflush starts a BufferFlush (MPI_Buffer_iflush, MPI-4.1 §3.6). It has no errors
// but the general ones. Local.
func (w *World) BufferIflush() (Request, error) {
	if err := w.check("World.BufferIflush"); err != nil {
		return Request{}, err
	}
	return w.self.request(w.comm.p2p.IflushBuffer(context.Background(), pt2pt.Everywhere)), nil
}

// BufferAttach gives buf to the buffered sends of this communicator only
// (MPI_Comm_attach_buffer, MPI-4.1 §3.6). Errors are those of World.BufferAttach.
// Local.
func (c *Comm) BufferAttach(buf []byte) error {
	const call = "Comm.BufferAttach"
	if c.lost() {
		return c.explain(call, 0, 0, false)
	}
	return c.fail(call, c.p2p.AttachBuffer(c.cid, buf))
}

// BufferDetach is World.BufferDetach for the communicator's own memory
// (MPI_Comm_detach_buffer, MPI-4.1 §3.6). It has no errors but the general ones.
// Non-local.
func (c *Comm) BufferDetach() ([]byte, error) {
	const call = "Comm.BufferDetach"
	if c.lost() {
		return nil, c.explain(call, 0, 0, false)
	}
	b, err := c.p2p.DetachBuffer(c.ctx, c.cid)
	return b, c.fail(call, err)
}

// BufferFlush is World.BufferFlush for the communicator's own memory
// (MPI_Comm_flush_buffer, MPI-4.1 §3.6). It has no errors but the general ones.
// Non-local.
func (c *Comm) BufferFlush() error {
	const call = "Comm.BufferFlush"
	if c.lost() {
		return c.explain(call, 0, 0, false)
	}
	return c.fail(call, c.p2p.FlushBuffer(c.ctx, c.cid))
}

// BufferIflush starts a BufferFlush (MPI_Comm_iflush_buffer, MPI-4.1 §3.6). It has no
// errors but the general ones. Local.
func (c *Comm) BufferIflush() (Request, error) {
	if c.lost() {
		return Request{}, c.explain("Comm.BufferIflush", 0, 0, false)
	}
	return c.request(c.p2p.IflushBuffer(c.ctx, c.cid)), nil
}
