package mpi_test

import (
	"strings"

	"github.com/weft-mpi/weft/mpi"
)

// nearby are the arguments of calls of neighborhoods: slices, Bufs, and for each side
// counts and displacements.
type nearby struct {
	c          *mpi.Comm
	form       form
	out, in    []int32
	send, recv mpi.Buf
	each, into []mpi.Buf
	n, at      []int // of send
	m, to      []int // of recv
}

// neighborCalls are the calls in all forms. A blocking one returns no request.
var neighborCalls = map[string]func(a *nearby) (request, error){
	"NeighborAllgather": func(a *nearby) (request, error) {
		if a.form.nonblocking {
			return either(a.form, mpi.IneighborAllgather[int32], mpi.NeighborAllgatherInit[int32])(a.c, a.out, a.in)
		}
		return request{}, mpi.NeighborAllgather(a.c, a.out, a.in)
	},
	"NeighborAllgatherv": func(a *nearby) (request, error) {
		if a.form.nonblocking {
			return either(a.form, mpi.IneighborAllgatherv[int32], mpi.NeighborAllgathervInit[int32])(a.c, a.out, a.in, a.m, a.to)
		}
		return request{}, mpi.NeighborAllgatherv(a.c, a.out, a.in, a.m, a.to)
	},
	"NeighborAlltoall": func(a *nearby) (request, error) {
		if a.form.nonblocking {
			return either(a.form, mpi.IneighborAlltoall[int32], mpi.NeighborAlltoallInit[int32])(a.c, a.out, a.in)
		}
		return request{}, mpi.NeighborAlltoall(a.c, a.out, a.in)
	},
	"NeighborAlltoallv": func(a *nearby) (request, error) {
		if a.form.nonblocking {
			return either(a.form, mpi.IneighborAlltoallv[int32], mpi.NeighborAlltoallvInit[int32])(a.c, a.out, a.n, a.at, a.in, a.m, a.to)
		}
		return request{}, mpi.NeighborAlltoallv(a.c, a.out, a.n, a.at, a.in, a.m, a.to)
	},
	"Comm.NeighborAllgather": func(a *nearby) (request, error) {
		if a.form.nonblocking {
			return either(a.form, a.c.IneighborAllgather, a.c.NeighborAllgatherInit)(a.send, a.recv)
		}
		return request{}, a.c.NeighborAllgather(a.send, a.recv)
	},
	"Comm.NeighborAllgatherv": func(a *nearby) (request, error) {
		if a.form.nonblocking {
			return either(a.form, a.c.IneighborAllgatherv, a.c.NeighborAllgathervInit)(a.send, a.recv, a.m, a.to)
		}
		return request{}, a.c.NeighborAllgatherv(a.send, a.recv, a.m, a.to)
	},
	"Comm.NeighborAlltoall": func(a *nearby) (request, error) {
		if a.form.nonblocking {
			return either(a.form, a.c.IneighborAlltoall, a.c.NeighborAlltoallInit)(a.send, a.recv)
		}
		return request{}, a.c.NeighborAlltoall(a.send, a.recv)
	},
	"Comm.NeighborAlltoallv": func(a *nearby) (request, error) {
		if a.form.nonblocking {
			return either(a.form, a.c.IneighborAlltoallv, a.c.NeighborAlltoallvInit)(a.send, a.n, a.at, a.recv, a.m, a.to)
		}
		return request{}, a.c.NeighborAlltoallv(a.send, a.n, a.at, a.recv, a.m, a.to)
	},
	"Comm.NeighborAlltoallw": func(a *nearby) (request, error) {
		if a.form.nonblocking {
			return either(a.form, a.c.IneighborAlltoallw, a.c.NeighborAlltoallwInit)(a.each, a.into)
		}
		return request{}, a.c.NeighborAlltoallw(a.each, a.into)
	},
}

// inForm is the name of a call in a form.
func inForm(name string, f form) string {
	switch {
	case f.persistent:
		return name + "Init"
	case f.nonblocking:
		return strings.Replace(name, "Neighbor", "Ineighbor", 1)
	}
	return name
}

// Each of them fails without a topology.
func init() {
	for name, call := range neighborCalls {
		for _, f := range notInPlace {
			failures[inForm(name, f)] = func(v victim) error { return second(call(&nearby{c: v.c, form: f})) }
		}
	}
}
