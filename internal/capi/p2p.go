package capi

import "github.com/weft-mpi/weft/mpi"

func send(a *Args) error  { return a.comm(5).Send(a.buf(0), a.int(3), a.int(4)) }
func bsend(a *Args) error { return a.comm(5).Bsend(a.buf(0), a.int(3), a.int(4)) }
func ssend(a *Args) error { return a.comm(5).Ssend(a.buf(0), a.int(3), a.int(4)) }
func rsend(a *Args) error { return a.comm(5).Rsend(a.buf(0), a.int(3), a.int(4)) }

func recv(a *Args) error {
	st, err := a.comm(5).Recv(a.buf(0), a.int(3), a.int(4))
	a.setStatus(6, st)
	return err
}

func isend(a *Args) error {
	r, err := a.comm(5).Isend(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func irecv(a *Args) error {
	r, err := a.comm(5).Irecv(a.buf(0), a.int(3), a.int(4))
	return a.setRequest(6, r, err)
}

func wait(a *Args) error {
	r, err := a.request(0)
	if err != nil {
		return err
	}
	st, err := r.Wait()
	a.ended(0, r)
	a.setStatus(1, st)
	return err
}

// ended sets the handle of a request that has been completed to null, unless the request
// is persistent.
func (a *Args) ended(i int, r mpi.Request) {
	if p := a.handleAt(i); r.Null() && *p != requestNull {
		requests.drop(*p)
		*p = requestNull
	}
}

func barrier(a *Args) error { return a.comm(0).Barrier() }
