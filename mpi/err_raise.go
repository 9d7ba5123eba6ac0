package mpi

import (
	"errors"
	"sync"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/rma"
)

// Every error of a call goes through raise of its communicator, once. Arguments
// are checked by explain, which raises; the errors of the layers below come by
// fail. A call that succeeds pays nothing: what belongs to the communicator of a
// request is the number in its handle.

// raise has the communicator's error handler see an error, and returns the error
// that the call is to return. A nil communicator has no handler, and a finalized
// World calls none.
func (c *Comm) raise(err error) error {
	if err == nil || c == nil || c.st == nil {
		return err
	}
	h := c.st.handler.Load()
	if h == nil || c.w.over() {
		return err
	}
	return h.handle(c, err, false)
}

// fail raises an error of the layers below; nil stays nil.
func (c *Comm) fail(call string, err error) error {
	if err == nil {
		return nil
	}
	return c.raise(fail(call, c.cause(err)))
}

// failAside is fail for the goroutine that calls callbacks, which must not end.
func (c *Comm) failAside(call string, err error) error {
	err = fail(call, c.cause(err))
	if c == nil || c.st == nil || c.w.over() {
		return err
	}
	if h := c.st.handler.Load(); h != nil {
		return h.handle(c, err, true)
	}
	return err
}

// cause is the Abort that an operation's error comes from, or the error, which names ranks
// as the communicator does.
func (c *Comm) cause(err error) error {
	if c == nil || c.w == nil {
		return err
	}
	if errors.Is(err, fabric.ErrClosed) || errors.Is(err, fabric.ErrPeerDown) {
		if abort := c.w.aborted(); abort != nil {
			return abort
		}
	}
	if c.ranks != nil && !errors.As(err, new(*rma.RankError)) {
		return pt2pt.InRanks(c.ranks, c.remote > 0, err)
	}
	return err
}

// fail is Comm.fail for calls that have no communicator: as in MPI, Self's error
// handler is called (MPI-4.0 §9.3).
func (w *World) fail(call string, err error) error {
	if err == nil {
		return nil
	}
	return w.Self().fail(call, err)
}

// raiseSelf is raise for a call that names no object: Self's error handler is called
// (MPI-4.0 §9.3).
func raiseSelf(err error) error {
	if err == nil {
		return nil
	}
	return callersWorld().Self().raise(err)
}

// world is the rank in the job of a peer; a special number stays.
func (c *Comm) world(rank int) int {
	if c.ranks == nil {
		return rank
	}
	return c.ranks.World(rank)
}

// request is the user's handle of an operation on the communicator.
func (c *Comm) request(h progress.Handle) Request { return Request{h.For(c.cid + 1)} }

// comm is the communicator of the request, or nil if it has none or that is not
// known any more.
func (r Request) comm() *Comm {
	program, owner := r.h.Owner()
	in, ok := program.(*instance)
	if !ok || owner == 0 {
		return nil
	}
	return in.comms.get(owner - 1)
}

func (r Request) raise(err error) error { return r.comm().raise(err) }

func (r Request) fail(call string, err error) error {
	if err == nil {
		return nil
	}
	return r.comm().fail(call, err)
}

// commOf is the communicator of the first of the requests that has one, for an
// error of the call itself.
func commOf(requests []Request) *Comm {
	for _, r := range requests {
		if c := r.comm(); c != nil {
			return c
		}
	}
	return nil
}

// orOf is c, or what commOf says if c is nil.
func (c *Comm) orOf(requests []Request) *Comm {
	if c == nil {
		return commOf(requests)
	}
	return c
}

// failOf is fail for a call with several requests.
func failOf(call string, requests []Request, err error) error {
	_, c, err := tell(Status{}, err, true)
	return c.orOf(requests).fail(call, err)
}

// registry finds the communicators of a rank by their contexts. One that has been
// freed with an error handler stays for its requests, as long as it is among the
// last keptFreed of that kind.
type registry struct {
	mu    sync.Mutex
	of    map[uint32]*Comm
	freed []*Comm // a ring, once it is full
	next  int
}

const keptFreed = 4096

func (g *registry) get(cid uint32) *Comm {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.of[cid]
}

// drop forgets the communicators of a World that has ended, and returns them, those
// too that have been freed.
func (g *registry) drop(w *World) (cs []*Comm) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for cid, c := range g.of {
		if c.w == w {
			cs = append(cs, c)
			delete(g.of, cid)
		}
	}
	return cs
}

func (g *registry) add(c *Comm) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil {
		g.of = map[uint32]*Comm{}
	}
	g.of[c.cid] = c
}

// free keeps or drops a communicator that has been freed.
func (g *registry) free(cid uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.of[cid]
	switch {
	case c == nil:
		return
	case c.st.handler.Load() == nil:
		delete(g.of, cid)
		return
	case len(g.freed) < keptFreed:
		g.freed = append(g.freed, c)
		return
	}
	if old := g.freed[g.next]; g.of[old.cid] == old { // its context may be another's by now
		delete(g.of, old.cid)
	}
	g.freed[g.next] = c
	g.next = (g.next + 1) % keptFreed
}
