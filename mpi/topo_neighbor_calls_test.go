package mpi_test

import (
	"reflect"
	"strings"

	"github.com/weft-mpi/weft/mpi"
)

// neighborCalls are the calls of neighborhoods, which all have three forms.
var neighborCalls = []string{"NeighborAllgather", "NeighborAllgatherv", "NeighborAlltoall", "NeighborAlltoallv",
	"Comm.NeighborAllgather", "Comm.NeighborAllgatherv", "Comm.NeighborAlltoall", "Comm.NeighborAlltoallv", "Comm.NeighborAlltoallw"}

// nearby are the arguments of any of them.
type nearby struct {
	c          *mpi.Comm
	out, in    []byte
	send, recv mpi.Buf
	each, into []mpi.Buf
	n, at      []int // of send
	m, to      []int // of recv
}

// call makes one. A blocking call returns no request.
func (a *nearby) call(name string, f form) (r request, err error) {
	form := inForm(name, f)
	call, send, recv, args := reflect.ValueOf(functions[form]), any(a.out), any(a.in), []any{a.c}
	if method, bufs := strings.CutPrefix(form, "Comm."); bufs {
		call, send, recv, args = reflect.ValueOf(a.c).MethodByName(method), a.send, a.recv, nil
	}
	switch {
	case strings.HasSuffix(name, "w"):
		args = append(args, a.each, a.into)
	case strings.HasSuffix(name, "allv"):
		args = append(args, send, a.n, a.at, recv, a.m, a.to)
	case strings.HasSuffix(name, "v"):
		args = append(args, send, recv, a.m, a.to)
	default:
		args = append(args, send, recv)
	}
	var in []reflect.Value
	for _, arg := range args {
		in = append(in, reflect.ValueOf(arg))
	}
	out := call.Call(in)
	if err, _ = out[len(out)-1].Interface().(error); f.nonblocking {
		r = out[0].Interface().(request)
	}
	return r, err
}

// complete makes one, and a start of a persistent one.
func (a *nearby) complete(name string, f form) error {
	r, err := a.call(name, f)
	if f.persistent {
		return restart(r, err)
	}
	return wait(r, err)
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
	for _, name := range neighborCalls {
		for _, f := range notInPlace {
			failures[inForm(name, f)] = func(v victim) error { return second((&nearby{c: v.c}).call(name, f)) }
		}
	}
}
