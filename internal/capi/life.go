package capi

import (
	"context"

	"github.com/weft-mpi/weft/mpi"
)

// world is the rank's membership, from MPI_Init to MPI_Finalize.
var world *mpi.World

// initThread is MPI_Init and MPI_Init_thread. Every thread may make calls, whatever level
// the program wants.
func initThread(a *Args) error {
	w, err := mpi.Init(context.Background(), mpi.WithoutSIGQUIT())
	if err != nil {
		return err
	}
	world = w
	for h, c := range map[uint32]*mpi.Comm{commWorld: w.Comm(), commSelf: w.Self()} {
		if err := c.SetErrhandler(noteComm); err != nil {
			return err
		}
		comms.put(h, &comm{c}, func(s *slot) { s.describe(c) })
	}
	return nil
}

// finalize is MPI_Finalize.
func finalize(a *Args) error {
	err := world.Finalize()
	comms.drop(commWorld)
	comms.drop(commSelf)
	return err
}

// abort is MPI_Abort, and what ends a rank whose error is fatal.
func abort(a *Args) error {
	world.Abort(a.int(1))
	return nil
}

// Text writes what there is to say of an error code to out, with C's final zero.
func Text(code int32, out []byte) {
	if len(out) > 0 {
		out[copy(out[:len(out)-1], said.text(code))] = 0
	}
}
