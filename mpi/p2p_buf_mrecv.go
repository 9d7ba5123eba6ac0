package mpi

import (
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// Mrecv receives a matched message into b and sets the handle to null (MPI_Mrecv, MPI-4.0
// §3.8.3). A Buf that can't be used leaves the message where it is. Errors are those of
// the function Mrecv and of the Buf. Local: it waits at most for bytes that are on
// their way.
func (m *Message) Mrecv(b Buf) (Status, error) {
	const call = "Mrecv"
	was, d, err := m.spendFor(call, &b)
	if err != nil || was.noProc {
		return nullStatus, err
	}
	res, err := was.c.p2p.MrecvData(was.c.ctx, &was.m, &d)
	return statusOf(res), was.c.fail(call, err)
}

// Imrecv starts an Mrecv (MPI_Imrecv, MPI-4.0 §3.8.3). b's memory must not be touched
// until the request has completed. Errors are those of Mrecv. Local.
func (m *Message) Imrecv(b Buf) (Request, error) {
	was, d, err := m.spendFor("Imrecv", &b)
	switch {
	case err != nil:
		return Request{}, err
	case was.noProc && was.c == nil:
		return Request{progress.Lone(noProcResult)}, nil
	case was.noProc:
		return was.c.nullRequest(nil)
	}
	return was.c.request(was.c.p2p.ImrecvData(was.c.ctx, &was.m, &d)), nil
}

// spendFor is spend once b has been checked, with its memory.
func (m *Message) spendFor(call string, b *Buf) (was Message, d pt2pt.Data, err error) {
	var c *Comm
	if m != nil {
		c = m.c
	}
	if d, err = c.locate(call, "b", b, true); err != nil && m != nil {
		return was, d, err
	}
	was, err = m.spend(call)
	return was, d, err
}

// signs reports whether the message has a signature.
func (m *Message) signs() bool { return m != nil && m.c != nil && m.c.signs }
