package capi

import "github.com/weft-mpi/weft/mpi"

func mprobe(a *Args) error {
	m, st, err := mpi.Mprobe(a.comm(2), a.int(0), a.int(1))
	if err != nil {
		return err
	}
	a.setStatus(4, st)
	return a.setMessage(3, m)
}

func improbe(a *Args) error {
	there, m, st, err := mpi.Improbe(a.comm(2), a.int(0), a.int(1))
	if a.setFlag(3, there); !there {
		return err
	}
	a.setStatus(5, st)
	return a.setMessage(4, m)
}

func mrecv(a *Args) error {
	m, err := a.takeMessage(3)
	if err != nil {
		return err
	}
	st, err := m.Mrecv(a.buf(0))
	a.setStatus(4, st)
	return a.keepMessage(3, m, err)
}

func imrecv(a *Args) error {
	m, err := a.takeMessage(3)
	if err != nil {
		return err
	}
	r, err := m.Imrecv(a.buf(0))
	return a.keepMessage(3, m, a.setRequest(4, r, err))
}

// setMessage gives a matched message a handle, which argument i points to.
func (a *Args) setMessage(i int, m mpi.Message) error {
	if m.NoProc() {
		*a.handleAt(i) = messageNone
		return nil
	}
	h, err := messages.add(&message{m}, nil)
	if err == nil {
		*a.handleAt(i) = uint64(h)
	}
	return err
}

// takeMessage is the message whose handle argument i points to, which becomes null: of
// several receives of one message the first gets it.
func (a *Args) takeMessage(i int) (mpi.Message, error) {
	p := a.handleAt(i)
	if p == nil {
		return mpi.Message{}, errNull
	}
	if *p == messageNone {
		*p = messageNull
		return mpi.MessageNoProc, nil
	}
	o := messages.drop(*p)
	if o == nil {
		return mpi.Message{}, errMessage
	}
	*p = messageNull
	return o.m, nil
}

// keepMessage gives the message a handle again if its receive, whose error is err, has left
// it where it is.
func (a *Args) keepMessage(i int, m mpi.Message, err error) error {
	if err != nil && m != (mpi.Message{}) {
		_ = a.setMessage(i, m) // there is the room that takeMessage has made
	}
	return err
}

var errMessage = fail(mpi.ErrRequest, "the message is none: it is null, has been received, or is a handle of another kind")
