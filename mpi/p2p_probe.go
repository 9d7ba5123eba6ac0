package mpi

import (
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// Message is a message that Mprobe or Improbe has matched (MPI_Message, MPI-4.0
// §3.8.2). Mrecv or Imrecv receives it, once, and no other receive gets it. The
// zero Message is MPI_MESSAGE_NULL.
type Message struct {
	m      pt2pt.Message
	c      *Comm
	noProc bool
}

// MessageNoProc is a message of ProcNull: its receive is empty and returns at
// once, with the status of a receive from ProcNull (MPI_MESSAGE_NO_PROC, MPI-4.0
// §3.8.2). A matched probe of ProcNull returns such a message too; NoProc
// reports it. The request of an Imrecv of this one belongs to no communicator
// and may be completed together with those of any World.
var MessageNoProc = Message{noProc: true}

// noProcResult is what a receive from ProcNull gets.
var noProcResult = progress.Result{Source: ProcNull, Tag: AnyTag}

// NoProc reports whether m is a message of ProcNull. Local.
func (m Message) NoProc() bool { return m.noProc }

// Probe blocks until a message is there that a receive from source with tag
// would get, and returns its source, tag and length. The message can be received
// then (MPI_Probe, MPI-4.0 §3.8.1). Where several goroutines receive, use
// Mprobe. From AnySource it fails with ErrProcFailedPending if a rank has died
// (AckFailed). Non-local.
func Probe(c *Comm, source, tag int) (Status, error) {
	if err := c.checkRecv("Probe", source, tag); err != nil || source == ProcNull {
		return nullStatus, err
	}
	res, err := c.p2p.Probe(c.ctx, c.world(source), c.cid, int32(tag))
	return statusOf(res), c.fail("Probe", err)
}

// Iprobe reports whether Probe would return at once, and if so returns the same
// (MPI_Iprobe, MPI-4.0 §3.8.1). Errors are those of Probe. Local.
func Iprobe(c *Comm, source, tag int) (bool, Status, error) {
	if err := c.checkRecv("Iprobe", source, tag); err != nil || source == ProcNull {
		return err == nil, nullStatus, err
	}
	res, ok, err := c.p2p.Iprobe(c.world(source), c.cid, int32(tag))
	if !ok {
		return false, emptyStatus, c.fail("Iprobe", err)
	}
	return true, statusOf(res), nil
}

// Mprobe is Probe that takes the message out of the queue, for Mrecv
// (MPI_Mprobe, MPI-4.0 §3.8.2). Errors are those of Probe. Non-local.
func Mprobe(c *Comm, source, tag int) (Message, Status, error) {
	if err := c.checkRecv("Mprobe", source, tag); err != nil {
		return Message{}, nullStatus, err
	}
	if source == ProcNull {
		return Message{c: c, noProc: true}, nullStatus, nil
	}
	m, res, err := c.p2p.Mprobe(c.ctx, c.world(source), c.cid, int32(tag))
	if err != nil {
		return Message{}, statusOf(res), c.fail("Mprobe", err)
	}
	return Message{m: m, c: c}, statusOf(res), nil
}

// Improbe is Iprobe that takes the message out of the queue, for Mrecv
// (MPI_Improbe, MPI-4.0 §3.8.2). Errors are those of Probe. Local.
func Improbe(c *Comm, source, tag int) (bool, Message, Status, error) {
	if err := c.checkRecv("Improbe", source, tag); err != nil {
		return false, Message{}, nullStatus, err
	}
	if source == ProcNull {
		return true, Message{c: c, noProc: true}, nullStatus, nil
	}
	m, res, ok, err := c.p2p.Improbe(c.world(source), c.cid, int32(tag))
	if !ok {
		return false, Message{}, emptyStatus, c.fail("Improbe", err)
	}
	return true, Message{m: m, c: c}, statusOf(res), nil
}

// Mrecv receives a matched message and sets the handle to null (MPI_Mrecv,
// MPI-4.0 §3.8.3). For a null handle, or a copy of one already received, the
// error is ErrRequest; other errors are those of Recv. Local: it waits at most for
// bytes that are on their way.
func Mrecv[T Scalar](m *Message, buf []T) (Status, error) {
	const call = "Mrecv"
	if m.signs() {
		return m.Mrecv(Of(buf))
	}
	was, err := m.spend(call)
	if err != nil || was.noProc {
		return nullStatus, err
	}
	res, err := was.c.p2p.Mrecv(was.c.ctx, &was.m, bytesOf(buf))
	return statusOf(res), was.c.fail(call, err)
}

// Imrecv starts an Mrecv (MPI_Imrecv, MPI-4.0 §3.8.3). buf must not be touched
// until the request has completed. Errors are those of Mrecv. Local.
func Imrecv[T Scalar](m *Message, buf []T) (Request, error) {
	if m.signs() {
		return m.Imrecv(Of(buf))
	}
	was, err := m.spend("Imrecv")
	switch {
	case err != nil:
		return Request{}, err
	case was.noProc && was.c == nil:
		return Request{progress.Lone(noProcResult)}, nil
	case was.noProc:
		return was.c.nullRequest(nil)
	}
	return was.c.request(was.c.p2p.Imrecv(was.c.ctx, &was.m, bytesOf(buf))), nil
}

// spend sets the handle to null and returns its old value.
func (m *Message) spend(call string) (Message, error) {
	if m == nil {
		return Message{}, badArg(call, ErrRequest, "the pointer to the message is nil: give the address of what Mprobe or Improbe has returned")
	}
	was := *m
	if m != &MessageNoProc {
		*m = Message{}
	}
	if !was.noProc && was.c == nil {
		return was, badArg(call, ErrRequest, "the message handle is null: it comes from Mprobe or Improbe and is good for one receive")
	}
	return was, nil
}
