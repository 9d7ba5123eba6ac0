package capi

import (
	"context"

	"github.com/weft-mpi/weft/mpi"
)

// Sessions (MPI-5.0 §11.3).

// sessionInit is MPI_Session_init. Every thread may make calls, whatever level the info
// asks for.
func sessionInit(a *Args) error {
	s, err := mpi.NewSession(context.Background(), options...)
	if err == nil {
		err = s.SetErrhandler(noteSession)
	}
	if err != nil {
		return err
	}
	arrive(nil, false)
	h, err := sessions.add(&session{s}, func(t *slot) { t.setHandler(uint32(a.words[1])) })
	if err != nil {
		return err
	}
	*a.handleAt(2) = uint64(h)
	return nil
}

func sessionFinalize(a *Args) error {
	if err := sessionOf(*a.handleAt(0)).Finalize(); err != nil {
		return err
	}
	drop(a, 0, sessions, sessionNull)
	return nil
}

func sessionGetInfo(a *Args) error {
	o, err := a.session(0).Info()
	return a.madeInfo(1, o, err)
}

func sessionGetNumPsets(a *Args) error {
	names, err := a.session(0).Psets()
	if err == nil {
		a.setInt(2, len(names))
	}
	return err
}

// sessionGetNthPset is MPI_Session_get_nth_pset: pset_len counts the final zero, and is the
// room for the name before, and what the name needs behind.
func sessionGetNthPset(a *Args) error {
	names, err := a.session(0).Psets()
	if err != nil {
		return err
	}
	room, err := a.room(3, 4)
	if err != nil {
		return err
	}
	n := a.int(2)
	if uint(n) >= uint(len(names)) {
		return fail(mpi.ErrArg, "process set %d of a session that has %d, numbered from 0", n, len(names))
	}
	a.setString(4, names[n], room)
	a.setInt(3, len(names[n])+1)
	return nil
}

func sessionGetPsetInfo(a *Args) error {
	o, err := a.session(0).PsetInfo(a.string(1))
	return a.madeInfo(2, o, err)
}
