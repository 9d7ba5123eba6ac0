package mpi

import "github.com/weft-mpi/weft/internal/pt2pt"

// The point-to-point calls on Bufs. Each does what the function of its name does with a
// slice, and has its errors; besides, ErrType, ErrCount or ErrBuffer for a Buf that can't
// be used, and then it has done nothing. The message is that of the elements in the order
// of their type, whatever the type of the other side is, as long as it has the same
// sequence of basic elements. Its length, in a Status and for attached memory, is that of
// the elements without gaps.

// Send sends b to rank dest (MPI_Send, MPI-4.0 §3.2.1). It blocks until b's memory may
// be used again. Errors are those of the function Send and of the Buf. Non-local.
func (c *Comm) Send(b Buf, dest, tag int) error {
	if mem, ok := b.dense(); ok && c.plain(dest, tag) {
		return Send(c, mem, dest, tag)
	}
	return c.sendBuf("Send", pt2pt.Standard, b, dest, tag)
}

// Recv receives a message of at most b's elements from source with tag; either may be a
// wildcard (MPI_Recv, MPI-4.0 §3.2.4). Errors are those of the function Recv and of the
// Buf. Non-local.
func (c *Comm) Recv(b Buf, source, tag int) (Status, error) {
	if mem, ok := b.dense(); ok && c.plain(source, tag) {
		return Recv(c, mem, source, tag)
	}
	const call = "Recv"
	if err := c.checkRecv(call, source, tag); err != nil {
		return nullStatus, err
	}
	d, err := c.data(call, "b", &b, source, true)
	if err != nil || source == ProcNull {
		return nullStatus, err
	}
	res, err := c.p2p.RecvData(c.ctx, c.world(source), c.cid, int32(tag), &d)
	return statusOf(res), c.fail(call, err)
}

// Isend starts a Send (MPI_Isend, MPI-4.0 §3.7.2). b's memory must not be written to until
// the request has completed. Errors are those of Send. Local.
func (c *Comm) Isend(b Buf, dest, tag int) (Request, error) {
	if mem, ok := b.dense(); ok && c.plain(dest, tag) {
		return c.request(c.p2p.Isend(c.ctx, pt2pt.Standard, c.world(dest), c.cid, int32(tag), mem)), nil
	}
	return c.isendBuf("Isend", pt2pt.Standard, b, dest, tag)
}

// Irecv starts a Recv (MPI_Irecv, MPI-4.0 §3.7.2). b's memory must not be touched until
// the request has completed. Errors are those of Recv. Local.
func (c *Comm) Irecv(b Buf, source, tag int) (Request, error) {
	if mem, ok := b.dense(); ok && c.plain(source, tag) {
		return c.request(c.p2p.Irecv(c.ctx, c.world(source), c.cid, int32(tag), mem)), nil
	}
	const call = "Irecv"
	if err := c.checkRecv(call, source, tag); err != nil {
		return Request{}, err
	}
	d, err := c.data(call, "b", &b, source, true)
	if err != nil || source == ProcNull {
		return c.nullRequest(err)
	}
	return c.request(c.p2p.IrecvData(c.ctx, c.world(source), c.cid, int32(tag), &d)), nil
}

func (c *Comm) sendBuf(call string, mode pt2pt.Mode, b Buf, dest, tag int) error {
	if err := c.checkSend(call, dest, tag); err != nil {
		return err
	}
	d, err := c.data(call, "b", &b, dest, false)
	if err != nil || dest == ProcNull {
		return err
	}
	return c.fail(call, c.p2p.SendData(c.ctx, mode, c.world(dest), c.cid, int32(tag), &d))
}

func (c *Comm) isendBuf(call string, mode pt2pt.Mode, b Buf, dest, tag int) (Request, error) {
	if err := c.checkSend(call, dest, tag); err != nil {
		return Request{}, err
	}
	d, err := c.data(call, "b", &b, dest, false)
	if err != nil || dest == ProcNull {
		return c.nullRequest(err)
	}
	return c.request(c.p2p.IsendData(c.ctx, mode, c.world(dest), c.cid, int32(tag), &d)), nil
}

// data is the memory of the argument arg of a call with peer; into says that the call
// writes there. An error has been raised. Towards ProcNull there is no memory.
func (c *Comm) data(call, arg string, b *Buf, peer int, into bool) (pt2pt.Data, error) {
	if peer == ProcNull {
		return pt2pt.Data{}, c.raise(b.check(call, arg, into))
	}
	return c.locate(call, arg, b, into)
}

// locate is data whoever the peer is. c may be nil, of messages of ProcNull.
func (c *Comm) locate(call, arg string, b *Buf, into bool) (d pt2pt.Data, err error) {
	if c == nil || !c.signs {
		d, err = b.data(call, arg, into)
	} else if err = b.check(call, arg, into); err == nil {
		d = b.signed()
	}
	if err != nil {
		err = c.raise(err)
	}
	return d, err
}
