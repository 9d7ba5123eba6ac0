package mpi

import (
	"context"
	"math"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// Special ranks, tags and numbers, with the values of MPI-5's ABI. All are
// different.
const (
	// AnySource makes a receive or a probe accept a message from any rank
	// (MPI_ANY_SOURCE, MPI-4.0 §3.2.4).
	AnySource = -1
	// AnyTag makes a receive or a probe accept a message with any tag
	// (MPI_ANY_TAG, MPI-4.0 §3.2.4).
	AnyTag = -2
	// ProcNull is a peer without a process: a send to it has no effect, a
	// receive from it is empty, and both return at once (MPI_PROC_NULL, MPI-4.0
	// §3.10; in MPI-3.1 §3.11).
	ProcNull = -3
	// Root is what the root of a collective call between two groups passes as
	// root (MPI_ROOT, MPI-4.0 §6.2.3). The other ranks of its group pass ProcNull,
	// and those of the other group the root's rank. See IntercommCreate.
	Root = -4
	// Undefined is the index, or the number, if there is none (MPI_UNDEFINED).
	Undefined = -32766
	// TagUB is the largest tag (MPI_TAG_UB, MPI-4.0 §9.1.2).
	TagUB = math.MaxInt32
)

// The engine has the same values.
const (
	_ = uint(AnySource-pt2pt.AnySource) + uint(pt2pt.AnySource-AnySource)
	_ = uint(AnyTag-pt2pt.AnyTag) + uint(pt2pt.AnyTag-AnyTag)
	_ = uint(ProcNull-pt2pt.ProcNull) + uint(pt2pt.ProcNull-ProcNull)
)

// Comm is a communicator: a group of ranks whose messages match only among
// themselves. It is safe for concurrent use.
//
// An intercommunicator has two groups without a common rank: the local group, which
// the caller is in, and the remote group (MPI-4.0 §7.6). Messages go from one to the
// other, so a peer's rank is one in the remote group. IntercommCreate makes one.
type Comm struct {
	w    *World
	core *comm.Comm
	st   *commState
	ctx  context.Context // of WithContext, or nil

	// Copies of core's fields, which a call reads without another load.
	p2p        *pt2pt.Engine
	cid        uint32
	peers      int        // ranks that messages can go to: size, or remote
	quick      int        // peers, or 0 where no call is plain
	signs      bool       // messages have signatures, see p2p_signed.go
	compares   bool       // collective calls compare their elements, see coll_signed.go
	ranks      *group.Map // the peers' ranks in the job; nil: the same
	rank, size int        // in the local group
	remote     int        // ranks of the remote group; 0: this is no intercommunicator
}

// newComm makes the first handle of core, with the context ctx for its operations.
func newComm(w *World, core *comm.Comm, ctx context.Context) *Comm {
	c := &Comm{}
	c.is(w, core, ctx)
	return c
}

// is makes c that handle.
func (c *Comm) is(w *World, core *comm.Comm, ctx context.Context) {
	*c = Comm{w: w, core: core, st: &commState{}, ctx: ctx, p2p: core.P2P, cid: core.ID,
		rank: core.Rank, size: core.Size, peers: core.Peers(), ranks: core.Ranks}
	if core.Remote != nil {
		c.remote, c.ranks = core.Peers(), core.Remote
	}
	if c.signs = c.p2p.Header() > 0; !c.signs {
		c.quick = c.peers
	}
	c.compares = c.signs || w.checks && c.remote == 0
}

// Rank is the caller's rank in the communicator (MPI_Comm_rank, MPI-4.0 §7.4.1), in
// the local group of an intercommunicator, or Undefined if c is nil. Local.
func (c *Comm) Rank() int {
	if c == nil {
		return Undefined
	}
	return c.rank
}

// Size is the number of ranks (MPI_Comm_size, MPI-4.0 §7.4.1), of the local group of
// an intercommunicator, or 0 if c is nil. Local.
func (c *Comm) Size() int {
	if c == nil {
		return 0
	}
	return c.size
}

// WithContext returns the same communicator with a context for its operations.
// When ctx ends, a blocked operation returns ctx's error. A receive is then
// withdrawn as if it had never been posted. A send is abandoned, as by Cancel,
// if no receive has taken the message; otherwise it continues. A nil context
// never ends. Free of one frees both. If c is nil the result is nil. Local.
func (c *Comm) WithContext(ctx context.Context) *Comm {
	if c == nil {
		return nil
	}
	d := *c
	d.ctx = ctx
	return &d
}

// Context is the context of the communicator's operations: that of WithContext,
// or one that never ends. Local.
func (c *Comm) Context() context.Context {
	if c == nil || c.ctx == nil {
		return context.Background()
	}
	return c.ctx
}

// gone reports whether the communicator can't be used any more: explain says
// why.
func (c *Comm) gone() bool { return c == nil || c.core == nil || c.core.Over() }

// lost is gone for calls that work on a communicator which has been revoked.
func (c *Comm) lost() bool { return c == nil || c.core == nil || c.core.Gone() }

// checkSend checks the arguments of a send.
func (c *Comm) checkSend(call string, dest, tag int) error {
	if c.plain(dest, tag) {
		return nil
	}
	return c.explain(call, dest, tag, false)
}

// checkRecv checks the arguments of a receive.
func (c *Comm) checkRecv(call string, source, tag int) error {
	if c.plain(source, tag) {
		return nil
	}
	return c.explain(call, source, tag, true)
}

// plain reports whether a call needs no explain: its communicator is usable, its
// peer is a rank, its tag is no wildcard, and messages have no signatures.
func (c *Comm) plain(peer, tag int) bool {
	return c != nil && uint(peer) < uint(c.quick) && uint(tag) <= TagUB && !c.core.Over()
}

// explain raises and returns the error in the arguments, or returns nil.
func (c *Comm) explain(call string, peer, tag int, wild bool) error {
	return c.raise(c.wrong(call, peer, tag, wild))
}

func (c *Comm) wrong(call string, peer, tag int, wild bool) error {
	switch {
	case c == nil, c.core == nil:
		return badArg(call, ErrComm, "the communicator is nil, or not made yet: take World.Comm, or what Dup has returned, or wait for the request of Idup")
	case c.core.Over() && c.w.over(): // which is so before its communicators are
		return c.w.finalized(call)
	case c.core.Gone():
		return badArg(call, ErrComm, "%s has been freed", c.called())
	case c.core.Revoked():
		return &Error{Class: ErrRevoked, Call: call, Err: comm.ErrRevoked}
	case (peer < 0 || peer >= c.peers) && peer != ProcNull && !(wild && peer == AnySource):
		return notIn(call, ErrRank, "rank", peer, c.where(), c.peers)
	case (tag < 0 || tag > TagUB) && !(wild && tag == AnyTag):
		return badTag(call, tag)
	}
	return nil
}

// special names a special number and says what it is for, or returns "" for another one.
func special(n int) string {
	switch n {
	case AnySource:
		return "AnySource, a wildcard for the source of receives and probes"
	case AnyTag:
		return "AnyTag, a wildcard for the tag of receives and probes"
	case ProcNull:
		return "ProcNull, no process, for peers that take no part, and roots between groups"
	case Root:
		return "Root, for the root of collective calls between groups"
	}
	return ""
}

// notIn is the error for a rank that a group of size ranks does not have. what is what
// the call takes it as.
func notIn(call string, class Class, what string, rank int, group string, size int) error {
	if is := special(rank); is != "" {
		return badArg(call, class, "%s %d is %s: the %s here is one in %s of %d ranks (0 to %d)", what, rank, is, what, group, size, size-1)
	}
	return badArg(call, class, "%s %d is not in %s of %d ranks (0 to %d)", what, rank, group, size, size-1)
}

func badTag(call string, tag int) error {
	if is := special(tag); is != "" {
		return badArg(call, ErrTag, "tag %d is %s: the tag here is one from 0 to %d", tag, is, TagUB)
	}
	return badArg(call, ErrTag, "tag %d is outside 0 to %d", tag, TagUB)
}

// where is what the peers are the ranks of.
func (c *Comm) where() string {
	if c.remote > 0 {
		return "the remote group of " + c.called()
	}
	return c.called()
}
