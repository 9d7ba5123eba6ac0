package capi

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/weft-mpi/weft/mpi"
)

// world is the rank's membership, from MPI_Init to MPI_Finalize.
var world *mpi.World

// options are those of all that a C program begins.
var options = []mpi.Option{mpi.WithoutSIGQUIT(), mpi.WithLockedThreads()}

// initThread is MPI_Init and MPI_Init_thread. Every thread may make calls, whatever level
// the program wants.
func initThread(a *Args) error {
	receives := mpi.LateReceives{Start: startLate, Unexpected: &late.unexpected}
	w, err := mpi.Init(context.Background(), append(options[:len(options):len(options)], mpi.WithLateReceives(receives))...)
	if err != nil {
		return err
	}
	world = w
	arrive(w, a.int(2) == int(mpi.ThreadSingle))
	for h, c := range map[uint32]*mpi.Comm{commWorld: w.Comm(), commSelf: w.Self()} {
		if err := c.SetErrhandler(noteComm); err != nil {
			return err
		}
		comms.put(h, &comm{c}, func(s *slot) { s.describe(c) })
	}
	return nil
}

var (
	arrival sync.Mutex
	shared  bool // several threads may make calls
)

// arrive puts in what MPI_Init and MPI_Session_init make available, and what nobody takes
// away again. The World, nil in a session, knows most of the environment.
// alone says that there is one thread.
func arrive(w *mpi.World, alone bool) {
	arrival.Lock()
	defer arrival.Unlock()
	shared = shared || !alone // sessions promise nothing of threads
	requests.alone = !shared
	groups.put(groupEmpty, mpi.GroupEmpty, nil)
	signed = slices.Contains(strings.Split(os.Getenv("WEFT_CHECK"), ","), "types")
	putOff(requests.alone && world != nil && !signed)
	switch {
	case w != nil:
		infos.put(infoEnv, newInfo(w.InfoEnv()), nil)
	case infos.get(infoEnv) == nil:
		infos.put(infoEnv, newInfo(mpi.InfoEnv()), nil)
	}
}

// finalize is MPI_Finalize.
func finalize(a *Args) error {
	putOff(false)
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
