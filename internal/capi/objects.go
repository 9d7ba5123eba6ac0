package capi

import "github.com/weft-mpi/weft/mpi"

// What handles stand for.
type (
	comm    struct{ c *mpi.Comm }
	win     struct{ w *mpi.Win }
	session struct{ s *mpi.Session }
	op      struct{ o mpi.BufOperator }
	message struct{ m mpi.Message }
)

// The objects that C has handles of. A process has one rank, so they are the process's.
var (
	comms    = newTable[comm](kindComm)
	groups   = newTable[mpi.Group](kindGroup)
	infos    = newTable[mpi.Info](kindInfo)
	sessions = newTable[session](kindSession)
	wins     = newTable[win](kindWin)
	messages = newTable[message](kindMessage)
	types    = newTable[datatype](kindDatatype)
	ops      = newTable[op](kindOp)
	requests requestTable
)

// comm is a communicator, nil for a handle that is none: the call refuses that.
func (a *Args) comm(i int) *mpi.Comm {
	if o := comms.get(a.words[i]); o != nil {
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

func (a *Args) session(i int) *mpi.Session {
	if o := sessions.get(a.words[i]); o != nil {
		return o.s
	}
	return nil
}

func (a *Args) group(i int) *mpi.Group { return groups.get(a.words[i]) }

// info is nil for MPI_INFO_NULL.
func (a *Args) info(i int) *mpi.Info { return infos.get(a.words[i]) }

// op is nil for a handle that is none.
func (a *Args) op(i int) mpi.BufOperator {
	if o := ops.get(a.words[i]); o != nil {
		return o.o
	}
	return (*mpi.Op)(nil)
}

// datatype is nil for a handle that is none.
func (a *Args) datatype(i int) *mpi.Datatype {
	if t := types.get(a.words[i]); t != nil {
		return t.t
	}
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
	h, err := comms.add(&comm{c}, func(s *slot) { s.describe(c); s.setHandler(from) })
	*a.handleAt(i) = uint64(h)
	return err
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
	h, err := groups.add(g, nil)
	*a.handleAt(i) = uint64(h)
	return err
}

func (a *Args) setInfo(i int, info *mpi.Info) error {
	h, err := infos.add(info, nil)
	*a.handleAt(i) = uint64(h)
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
