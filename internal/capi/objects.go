package capi

import "github.com/weft-mpi/weft/mpi"

// What handles stand for.
type (
	comm    struct{ c *mpi.Comm }
	win     struct{ w *mpi.Win }
	session struct{ s *mpi.Session }
	op      struct{ o *mpi.Op }
	message struct{ m mpi.Message }
)

// The objects that C has handles of. A process has one rank, so they are the process's.
var (
	comms    = newTable[comm](kindComm)
	groups   = newTable[mpi.Group](kindGroup)
	infos    = newTable[info](kindInfo)
	sessions = newTable[session](kindSession)
	wins     = newTable[win](kindWin)
	messages = newTable[message](kindMessage)
	types    = newTable[datatype](kindDatatype)
	ops      = newTable[op](kindOp)
	requests requestTable
)

// comm is a communicator, nil for a handle that is none: the call refuses that.
func (a *Args) comm(i int) *mpi.Comm { return commOf(a.words[i]) }

func commOf(handle uint64) *mpi.Comm {
	if o := comms.get(handle); o != nil {
		return o.c
	}
	return nil
}

func (a *Args) win(i int) *mpi.Win {
	if o := wins.get(a.words[i]); o != nil {
		return o.w
	}
	return nil
}

func (a *Args) session(i int) *mpi.Session { return sessionOf(a.words[i]) }

func sessionOf(handle uint64) *mpi.Session {
	if o := sessions.get(handle); o != nil {
		return o.s
	}
	return nil
}

func (a *Args) group(i int) *mpi.Group { return groups.get(a.words[i]) }

// info is nil for MPI_INFO_NULL. What it returns is not changed by anybody.
func (a *Args) info(i int) *mpi.Info {
	if o := infos.get(a.words[i]); o != nil {
		return o.now.Load()
	}
	return nil
}

// datatype is nil for a handle that is none.
func (a *Args) datatype(i int) *mpi.Datatype {
	if t := types.get(a.words[i]); t != nil {
		return t.t
	}
	return nil
}

// list is n integers of an array that a call needs.
func (a *Args) list(i, n int) ([]int, error) {
	switch {
	case n < 0:
		return nil, fail(mpi.ErrArg, "an array of %d numbers: it has 0 or more", n)
	case n > 0 && a.pointer(i) == nil:
		return nil, errNull
	}
	return a.ints(i, n), nil
}

// setList sets an array of integers, which has to have room for all.
func (a *Args) setList(i int, v []int, room int) error {
	switch {
	case room < len(v):
		return fail(mpi.ErrArg, "an array with room for %d numbers, and there are %d", room, len(v))
	case len(v) > 0 && a.pointer(i) == nil:
		return errNull
	}
	a.setInts(i, v, room)
	return nil
}

// setComm gives a new communicator a handle, which argument i points to, and the error
// handler from of another one; nil is none, as that of a rank outside of it is.
func (a *Args) setComm(i int, c *mpi.Comm, from uint32) error {
	if c == nil {
		*a.handleAt(i) = commNull
		return nil
	}
	if err := c.SetErrhandler(noteComm); err != nil {
		return err
	}
	return a.addComm(i, c, c, from)
}

// addComm is the part of setComm for a communicator that is not made yet, and will have
// the groups of like.
func (a *Args) addComm(i int, c, like *mpi.Comm, from uint32) error {
	h, err := comms.add(&comm{c}, func(s *slot) { s.describe(like); s.setHandler(from) })
	if err != nil {
		return err
	}
	*a.handleAt(i) = uint64(h)
	return nil
}

// madeComm, madeGroup and madeInfo are those for what a call has made, unless it has failed
// with err.
func (a *Args) madeComm(i int, c *mpi.Comm, err error, from uint32) error {
	if err != nil {
		return err
	}
	return a.setComm(i, c, from)
}

func (a *Args) madeGroup(i int, g *mpi.Group, err error) error {
	if err != nil {
		return err
	}
	return a.setGroup(i, g)
}

func (a *Args) madeInfo(i int, o *mpi.Info, err error) error {
	if err != nil {
		return err
	}
	return a.setInfo(i, o)
}

// describe writes what C knows of a communicator.
func (s *slot) describe(c *mpi.Comm) {
	s.ints = [3]int32{int32(c.Rank()), int32(c.Size()), -1}
	if c.TestInter() {
		s.ints[2] = int32(c.RemoteSize())
	}
}

// handlerOf is the error handler of the communicator that argument i is, for those made of
// it.
func (a *Args) handlerOf(i int) uint32 { return slotOf(kindComm, a.words[i]).getHandler() }

// setGroup gives a group a handle, which argument i points to. An empty one has that of
// MPI_GROUP_EMPTY.
func (a *Args) setGroup(i int, g *mpi.Group) error {
	if g.Size() == 0 {
		*a.handleAt(i) = groupEmpty
		return nil
	}
	h, err := groups.add(g, nil)
	if err == nil {
		*a.handleAt(i) = uint64(h)
	}
	return err
}

// setInfo gives an info object a handle, which argument i points to. Nobody else may change
// the object.
func (a *Args) setInfo(i int, o *mpi.Info) error {
	h, err := infos.add(newInfo(o), nil)
	if err == nil {
		*a.handleAt(i) = uint64(h)
	}
	return err
}

// setStatus sets the status that argument i points to, unless it is MPI_STATUS_IGNORE.
func (a *Args) setStatus(i int, st mpi.Status) { a.status(i).set(st) }

// drop frees the handle that argument i points to, and sets it to null.
func drop[T any](a *Args, i int, t *table[T], null uint64) *T {
	p := a.handleAt(i)
	v := t.drop(*p)
	*p = null
	return v
}
