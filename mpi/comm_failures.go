package mpi

import (
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/progress"
)

// User-level failure mitigation (ULFM): how the living ranks of a communicator go on when
// others have died. The names are those of its MPIX functions. docs/failures.md has the
// whole.

// Revoke ends all communication on the communicator, at all its ranks
// (MPIX_Comm_revoke). One rank calls it that has seen a failure which others may not have
// seen. At each living rank operations under way then fail with ErrRevoked, and so does
// every later call, but for Agree, Iagree, Shrink, Ishrink, AckFailed, Failed,
// IsRevoked, Revoke and Free, and calls that only read or set what the communicator has:
// its handler, its name, its attributes. A message that is being copied still arrives.
// Rounds of partitioned operations fail too, these and later ones. Windows go on, with the
// ranks that live. A second call has no effect. There is no way back. It has no errors but
// the general ones. Local.
func (c *Comm) Revoke() error {
	if c.lost() {
		return c.explain("Comm.Revoke", 0, 0, false)
	}
	c.core.Revoke()
	return nil
}

// IsRevoked reports whether the communicator has been revoked, as far as this rank has
// heard (MPIX_Comm_is_revoked); false if c is nil. Local.
func (c *Comm) IsRevoked() bool { return c != nil && c.core != nil && c.core.Revoked() }

// Failed returns the group of the communicator's ranks that have failed as far as this
// rank knows (MPIX_Comm_get_failed), in the order in which it has heard of them: a later
// group begins with an earlier one. A rank that has left its World counts. Of an
// intercommunicator it has ranks of both groups. It has no errors but the general ones.
// Local.
func (c *Comm) Failed() (*Group, error) {
	const call = "Comm.Failed"
	if c.lost() {
		return nil, c.explain(call, 0, 0, false)
	}
	ranks, _ := c.core.Failed()
	m, err := group.New(ranks)
	if err != nil {
		return nil, c.fail(call, err)
	}
	return &Group{in: c.core.Instance(), of: c.w, ranks: m}, nil
}

// AckFailed acknowledges the first num ranks of Failed, and returns how many this rank
// has acknowledged of the communicator (MPIX_Comm_ack_failed); that never becomes less.
// With 0 it asks only. See Agree. Once all are acknowledged, receives and probes from
// AnySource wait for the other ranks again, and no longer fail with
// ErrProcFailedPending. It fails with ErrArg for a negative num. Local.
func (c *Comm) AckFailed(num int) (int, error) {
	const call = "Comm.AckFailed"
	switch {
	case c.lost():
		return 0, c.explain(call, 0, 0, false)
	case num < 0:
		return 0, c.raise(badArg(call, ErrArg, "%d ranks to acknowledge: it is the number of the first ones of Failed, or 0", num))
	}
	return c.core.AckFailed(num), nil
}

// Agree returns the bitwise and of what all living ranks give as flag, the same at all of
// them, also at those that die afterwards (MPIX_Comm_agree). All ranks call it, in the
// same order among their calls of Agree, Iagree, Shrink and Ishrink. What a rank that
// dies during the call has given may be part of the result, or not, alike at all. Deaths
// do not end the call, and it works on a communicator that was revoked.
//
// It fails with ErrProcFailed at all ranks, with the same result, if ranks have failed
// and not all have acknowledged that (AckFailed). If its context ends at a rank, that rank
// gets ErrCanceled and no result, but has taken part. An intercommunicator's ranks agree
// in both groups. On more than 8192 ranks it fails with ErrUnsupported. Non-local.
func (c *Comm) Agree(flag int) (int, error) {
	const call = "Comm.Agree"
	if c.lost() {
		return 0, c.explain(call, 0, 0, false)
	}
	var out int
	h := c.core.Iagree(c.ctx, uint64(flag), func(flags uint64) { out = int(flags) })
	if _, err := progress.WaitResult(&h); err != nil {
		return out, c.fail(call, err)
	}
	return out, nil
}

// Iagree starts an Agree (MPIX_Comm_iagree). The result is where the pointer points once
// the request has completed. Errors are those of Agree. Local.
func (c *Comm) Iagree(flag int) (Request, *int, error) {
	if c.lost() {
		return Request{}, nil, c.explain("Comm.Iagree", 0, 0, false)
	}
	out := new(int)
	h := c.core.Iagree(c.ctx, uint64(flag), func(flags uint64) { *out = int(flags) })
	return c.request(h), out, nil
}

// Shrink makes a communicator of the ranks that live, in their order
// (MPIX_Comm_shrink). All living ranks call it, in the same order among their calls of
// Agree, Iagree, Shrink and Ishrink. A rank that dies during the call is left out, and
// the ranks begin again; one that dies at its end may be a member. It works on a
// communicator that was revoked. The new one has the context and the error handler of
// this one, and neither attributes nor hints. Of an intercommunicator it is one too; if
// no rank of the remote group lives the call fails with ErrProcFailed.
//
// This communicator stays: Free it. If the call's context ends at a rank, that rank gets
// ErrCanceled; the others get their communicator, on which it takes no part. On more
// than 8192 ranks it fails with ErrUnsupported. Non-local.
func (c *Comm) Shrink() (*Comm, error) {
	const call = "Comm.Shrink"
	if c.lost() {
		return nil, c.explain(call, 0, 0, false)
	}
	k, made := creation{c: c, call: call}, &Comm{}
	h := c.core.Ishrink(c.ctx, func(core *comm.Comm) { k.finish(made, core) })
	if _, err := progress.WaitResult(&h); err != nil {
		return nil, c.fail(call, err)
	}
	return made, nil
}

// Ishrink starts a Shrink (MPIX_Comm_ishrink). Until the request has completed without an
// error the communicator that it returns can't be used: calls on it fail with ErrComm.
// Errors are those of Shrink. Local.
func (c *Comm) Ishrink() (Request, *Comm, error) {
	const call = "Comm.Ishrink"
	if c.lost() {
		return Request{}, nil, c.explain(call, 0, 0, false)
	}
	k, made := creation{c: c, call: call}, &Comm{}
	h := c.core.Ishrink(c.ctx, func(core *comm.Comm) { k.finish(made, core) })
	return c.request(h), made, nil
}
