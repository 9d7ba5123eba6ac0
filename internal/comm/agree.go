package comm

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/ulfm"
	"github.com/weft-mpi/weft/progress"
)

// agreeing is a call that makes agreements, an Agree or a Shrink, and the sink of its
// request. It belongs to the owner of the loop once it has been submitted. A call whose
// context has ended is made to its end all the same, as others wait for this rank.
type agreeing struct {
	progress.Passive
	f     *failures
	r     *progress.Request // nil: completed already
	waits bool              // for the end of the current agreement
	flags uint64
	done  func(ulfm.Value) // of an Agree: called with the outcome, before the request completes

	shrink *ulfm.Shrink // of a Shrink, or nil
	made   func(*Comm)  // called with the communicator, before the request completes
	got    *Comm        // of the last meeting
	place  [3]uintptr
}

// ErrNoRemote is the error of a shrink of an intercommunicator if no rank of the remote
// group is left.
var ErrNoRemote = errors.New("all ranks of the remote group have failed: there is no intercommunicator to make")

// maxAgree is of how many ranks agreements are: two bits of each fit into a packet of
// every fabric.
const maxAgree = 1 << 13

// ErrTooMany is the error of agreements of more ranks.
var ErrTooMany = fmt.Errorf("agreements and shrinks are of at most %d ranks", maxAgree)

// Iagree starts an agreement (MPIX_Comm_iagree). done is called under ownership with the
// bitwise and of the flags of all living ranks, before the request completes. That fails
// with a FailedError at all ranks if one has failed and not all have acknowledged it.
// Calls of a communicator follow one another, in the same order at all ranks. Local.
func (c *Comm) Iagree(ctx context.Context, flags uint64, done func(flags uint64)) progress.Handle {
	x := &agreeing{flags: flags, done: func(v ulfm.Value) { done(v.Flags) }}
	return c.agree(ctx, x)
}

// Ishrink starts to make a communicator of the ranks that live, in their order
// (MPIX_Comm_ishrink). made is called under ownership, before the request completes. A
// death meanwhile has the ranks begin again. Local.
func (c *Comm) Ishrink(ctx context.Context, made func(*Comm)) progress.Handle {
	return c.agree(ctx, &agreeing{shrink: new(ulfm.Shrink), made: made})
}

func (c *Comm) agree(ctx context.Context, x *agreeing) progress.Handle {
	l := c.in.Loop
	frames.Callers(&x.place)
	x.f = &failures{c: c, in: c.in} // the communicator's, once the owner begins the call
	r := l.NewShared()
	r.Kind, r.Peer, r.Until, r.Place = 0, progress.AnySource, expiry.Of(ctx), x.place
	h := r.Handle()
	l.Submit(x, r)
	return h
}

func (x *agreeing) Start(r *progress.Request) {
	x.r = r
	if x.f.c.sizeOfAll() > maxAgree {
		x.f.in.Loop.Finish(r, ErrTooMany)
		return
	}
	x.f = x.f.in.failuresOf(x.f.c)
	if x.f.calls = append(x.f.calls, x); len(x.f.calls) == 1 {
		x.begin()
	}
}

// begin begins the call's next agreement.
func (x *agreeing) begin() {
	flags := x.flags
	if x.shrink != nil {
		flags = x.shrink.Brings(x.got != nil)
	}
	x.waits = true
	x.f.begin(flags)
}

// decided takes the outcome of an agreement.
func (x *agreeing) decided(v ulfm.Value) {
	if x.shrink == nil {
		var err error
		if v.Unacked() {
			err = x.f.c.failedError(x.f.worldsOf(v.Failed.Without(v.Acked)))
		}
		if x.r != nil {
			x.done(v)
		}
		x.end(err)
		return
	}
	failed, again := x.shrink.Decided(v)
	switch {
	case again:
		x.drop()
		x.meet(failed)
	case x.r == nil:
		x.drop()
		x.end(nil)
	default:
		x.made(x.got)
		x.end(nil)
	}
}

// drop gives up what the last meeting has made.
func (x *agreeing) drop() {
	if x.got != nil {
		if !x.got.end() {
			x.got.free()
		}
		x.got = nil
	}
}

// meet makes a communicator of the ranks but those that have failed, and then goes on with
// another agreement.
func (x *agreeing) meet(failed ulfm.Set) {
	f, in := x.f, x.f.in
	key := fmt.Sprintf("shrink %d %d", f.c.ID, f.number)
	own, remote := f.living(f.c.Ranks, failed), f.c.Remote
	if remote != nil {
		if remote = f.living(remote, failed); remote.Len() == 0 {
			x.end(ErrNoRemote)
			return
		}
	}
	k := &creation{in: in}
	mt := k.meet(keyOf("meeting", key, own, remote), own, remote)
	k.of(mt.all)
	k.makeOf(own, remote)
	k.part = k.draw
	k.made = func(c *Comm) { x.got = c }
	k.schedule(mt).orphan(x.place, func(*progress.Request, error) {
		if !in.Loop.Over() {
			x.begin()
		}
	})
}

// living are the ranks of a group of the communicator, nil for that of the job, that are
// not in failed.
func (f *failures) living(m *group.Map, failed ulfm.Set) *group.Map {
	m = f.in.listed(m)
	var gone []int
	for i := range m.Len() {
		if failed.Has(f.rankOf(fabric.Peer(m.World(i)))) {
			gone = append(gone, i)
		}
	}
	left, _ := m.Excl(gone) // which are ranks of it, each once
	return left
}

// end ends the call, and has the next one begin.
func (x *agreeing) end(err error) {
	f := x.f
	f.calls = f.calls[1:]
	if r := x.r; r != nil {
		x.r = nil
		f.in.Loop.Finish(r, err)
	}
	if len(f.calls) > 0 {
		f.calls[0].begin()
	}
}

// Cancel ends the request with the user's context.
func (x *agreeing) Cancel(r *progress.Request, err error) bool {
	if x.r == nil {
		return false
	}
	x.r = nil
	x.f.in.Loop.Finish(r, err)
	return true
}

// Describe says what the call is, and in words what it waits for.
func (x *agreeing) Describe(_ *progress.Request, words bool) progress.Info {
	i := progress.Info{Class: "collective", Firm: true, What: "Agree"}
	if x.shrink != nil {
		i.What = "Shrink"
	}
	switch f := x.f; {
	case !words:
	case f.current == nil || f.calls[0] != x:
		i.State = "waits for an earlier call"
	case x.waits:
		i.State = fmt.Sprintf("in its agreement, number %d of the communicator, waits for ranks %v of the job", f.number, f.worldsOf(f.current.Waits()))
	default:
		i.State = fmt.Sprintf("the living ranks meet, behind agreement %d of the communicator", f.number)
	}
	return i
}
