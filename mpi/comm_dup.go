package mpi

import (
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/frames"
)

// Dup returns a communicator of the same ranks whose messages match none of this
// one's: a library should communicate on a duplicate of the communicator it is
// given (MPI_Comm_dup, MPI-4.0 §7.4.2). Every rank must call it, in the same
// order among the communicator's collective calls. The duplicate's operations
// have the context of this one (WithContext), and its errors the same handler. It
// has the attributes that their Keyvals copy, the topology, and no hints. If a copy function
// fails at a rank, Dup fails at all, and this communicator stays usable. Any other
// error has the same consequences as an error of Barrier. The duplicate of an
// intercommunicator is one too, of the same groups. It fails with the class of a copy
// function's error, or ErrOther. Non-local.
func (c *Comm) Dup() (*Comm, error) {
	k := c.prepareDup("Comm.Dup", nil)
	return k.make()
}

// DupWithInfo is Dup with hints for the duplicate, as SetInfo gives them
// (MPI_Comm_dup_with_info, MPI-4.0 §7.4.2). Where SetInfo would refuse them, it fails
// with ErrInfoValue at all ranks. Other errors are those of Dup. Non-local.
func (c *Comm) DupWithInfo(info *Info) (*Comm, error) {
	k := c.prepareDup("Comm.DupWithInfo", info)
	return k.make()
}

// Idup starts a Dup (MPI_Comm_idup, MPI-4.0 §7.4.2). Attributes are copied in this
// call. Until the request has completed without an error the communicator that it
// returns can't be used: calls on it fail with ErrComm. If the request fails, what
// was copied is deleted, on a goroutine of the library's. Errors are those of Dup.
// Local.
func (c *Comm) Idup() (Request, *Comm, error) {
	k := c.prepareDup("Comm.Idup", nil)
	return k.start()
}

// IdupWithInfo starts a DupWithInfo (MPI_Comm_idup_with_info, MPI-4.0 §7.4.2), see
// Idup. Errors are those of DupWithInfo. Local.
func (c *Comm) IdupWithInfo(info *Info) (Request, *Comm, error) {
	k := c.prepareDup("Comm.IdupWithInfo", info)
	return k.start()
}

// prepareDup makes what the duplicate takes over. What fails at this rank alone does
// not keep it from taking part: the others wait for it.
func (c *Comm) prepareDup(call string, info *Info) creation {
	k := creation{c: c, call: call}
	if c.gone() {
		return k
	}
	k.topo = c.st.topo
	var hints *Info
	if hints, k.spec.Failed = hintsOf(call, info); k.spec.Failed == nil {
		k.hints = *hints
		k.attrs, k.spec.Failed = c.st.attrs.copies(c)
	}
	return k
}

// creation is what this rank brings to a communicator that is to be made of ranks of
// c.
type creation struct {
	c     *Comm
	call  string
	spec  comm.Spec
	hints Info
	attrs []*attr[*Comm]
	topo  *topology
}

// make makes the communicator, or returns nil for a rank that is in none.
func (k *creation) make() (*Comm, error) {
	if k.c.gone() {
		return nil, k.c.explain(k.call, 0, 0, false)
	}
	frames.Callers(&k.spec.Place)
	return k.end(k.c.core.Create(k.c.ctx, k.spec))
}

// end is the end of a creation that has given core or err; both are nil for a rank that
// is in no communicator.
func (k *creation) end(core *comm.Comm, err error) (*Comm, error) {
	switch {
	case err != nil:
		return nil, k.failed(err)
	case core == nil:
		return nil, nil
	}
	made := &Comm{}
	k.finish(made, core)
	return made, nil
}

// start starts to make it.
func (k *creation) start() (Request, *Comm, error) {
	if k.c.gone() {
		return Request{}, nil, k.c.explain(k.call, 0, 0, false)
	}
	frames.Callers(&k.spec.Place)
	made := &Comm{}
	h := k.c.core.Icreate(k.c.ctx, k.spec, func(core *comm.Comm) { k.finish(made, core) }, func() {
		if len(k.attrs) > 0 {
			go dropCopies(k.c, k.attrs) // nobody is left to tell of its errors
		}
	})
	return k.c.request(h), made, nil
}

// finish makes core known as made.
func (k *creation) finish(made *Comm, core *comm.Comm) {
	c := k.c
	made.is(c.w, core, c.ctx)
	made.st.attrs.list, made.st.hints, made.st.topo = k.attrs, k.hints, k.topo
	core.Near = k.topo.neighbors()
	made.st.handler.Store(c.st.handler.Load())
	c.w.comms.add(made)
}

// failed is the error of the call at this rank.
func (k *creation) failed(err error) error {
	return k.c.fail(k.call, joined(err, dropCopies(k.c, k.attrs)))
}
