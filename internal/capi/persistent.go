package capi

import "github.com/weft-mpi/weft/mpi"

func sendInit(a *Args) error {
	r, err := a.comm(5).SendInit(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func bsendInit(a *Args) error {
	r, err := a.comm(5).BsendInit(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func ssendInit(a *Args) error {
	r, err := a.comm(5).SsendInit(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func rsendInit(a *Args) error {
	r, err := a.comm(5).RsendInit(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func recvInit(a *Args) error {
	r, err := a.comm(5).RecvInit(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func start(a *Args) error {
	r, err := a.request(0)
	if err != nil {
		return err
	}
	return r.Start()
}

func startall(a *Args) error {
	l, err := a.requestList(0)
	if err != nil {
		return err
	}
	err = mpi.Startall(l.requests)
	l.recycle()
	return err
}

func requestFree(a *Args) error {
	r, err := a.request(0)
	if err != nil {
		return err
	}
	p := a.handleAt(0)
	if *p == requestDone {
		*p = requestNull
		return nil
	}
	err = r.Free()
	if !r.Null() {
		return err // the operation can't be given up now
	}
	if requests.mark(*p, givenUp)&(general|completed) == general {
		*p = requestNull // a copy of the handle is still good for MPI_Grequest_complete
		return err
	}
	a.ended(0, r)
	return err
}

func cancel(a *Args) error {
	r, err := a.request(0)
	if err != nil || *a.handleAt(0) == requestDone {
		return err
	}
	return r.Cancel()
}
