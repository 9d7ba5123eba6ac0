package capi

import "github.com/weft-mpi/weft/mpi"

func send(a *Args) error {
	if mem, ok := a.plain(0); ok {
		return mpi.Send(a.comm(5), mem, a.int(3), a.int(4))
	}
	return a.comm(5).Send(a.buf(0), a.int(3), a.int(4))
}

func bsend(a *Args) error { return a.comm(5).Bsend(a.buf(0), a.int(3), a.int(4)) }
func ssend(a *Args) error { return a.comm(5).Ssend(a.buf(0), a.int(3), a.int(4)) }
func rsend(a *Args) error { return a.comm(5).Rsend(a.buf(0), a.int(3), a.int(4)) }

func recv(a *Args) (err error) {
	var st mpi.Status
	if mem, ok := a.plain(0); ok {
		st, err = mpi.Recv(a.comm(5), mem, a.int(3), a.int(4))
	} else {
		st, err = a.comm(5).Recv(a.buf(0), a.int(3), a.int(4))
	}
	a.setStatus(6, st)
	return err
}

func isend(a *Args) error {
	if mem, ok := a.plain(0); ok {
		r, err := mpi.Isend(a.comm(5), mem, a.int(3), a.int(4))
		return a.setRequest(6, r, err)
	}
	r, err := a.comm(5).Isend(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func ibsend(a *Args) error {
	r, err := a.comm(5).Ibsend(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func issend(a *Args) error {
	r, err := a.comm(5).Issend(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func irsend(a *Args) error {
	r, err := a.comm(5).Irsend(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func irecv(a *Args) error {
	if mem, ok := a.plain(0); ok {
		r, err := mpi.Irecv(a.comm(5), mem, a.int(3), a.int(4))
		return a.setRequest(6, r, err)
	}
	r, err := a.comm(5).Irecv(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func sendrecv(a *Args) error {
	st, err := a.comm(10).Sendrecv(a.buf(0), a.int(3), a.int(4), a.buf(5), a.int(8), a.int(9))
	a.setStatus(11, st)
	return err
}

func sendrecvReplace(a *Args) error {
	st, err := a.comm(7).SendrecvReplace(a.buf(0), a.int(3), a.int(4), a.int(5), a.int(6))
	a.setStatus(8, st)
	return err
}

func isendrecv(a *Args) error {
	r, err := a.comm(10).Isendrecv(a.buf(0), a.int(3), a.int(4), a.buf(5), a.int(8), a.int(9))
	return a.setRequest(11, r, err)
}

func isendrecvReplace(a *Args) error {
	r, err := a.comm(7).IsendrecvReplace(a.buf(0), a.int(3), a.int(4), a.int(5), a.int(6))
	return a.setRequest(8, r, err)
}

func probe(a *Args) error {
	st, err := mpi.Probe(a.comm(2), a.int(0), a.int(1))
	a.setStatus(3, st)
	return err
}

func iprobe(a *Args) error {
	there, st, err := mpi.Iprobe(a.comm(2), a.int(0), a.int(1))
	if a.setFlag(3, there); there {
		a.setStatus(4, st)
	}
	return err
}
