package pt2pt

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/progress"
)

var errUnsure = errors.New("a rank has died")

// waits are the calls that wait for a message from a source.
var waits = map[string]func(ctx context.Context, e *engine, source int, cid uint32) error{
	"Recv": func(ctx context.Context, e *engine, source int, cid uint32) error {
		_, err := e.Recv(ctx, source, cid, tag, nil)
		return err
	},
	"Sendrecv": func(ctx context.Context, e *engine, source int, cid uint32) error {
		_, err := e.Sendrecv(ctx, cid, nil, ProcNull, tag, nil, source, tag)
		return err
	},
	"Probe": func(ctx context.Context, e *engine, source int, cid uint32) error {
		_, err := e.Probe(ctx, source, cid, tag)
		return err
	},
	"Mprobe": func(ctx context.Context, e *engine, source int, cid uint32) error {
		_, _, err := e.Mprobe(ctx, source, cid, tag)
		return err
	},
}

// What begins in a context that is forbidden fails at once.
func TestNothingBeginsInAForbiddenContext(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel() // what waits fails with another error
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, 3)
			e := g.engine(0)
			banned := errors.New("forbidden")
			e.own(func() { e.Forbid(world, func(int32) bool { return false }, banned) })
			for _, source := range []int{AnySource, 1} {
				if err := wait(over, e, source, world); !errors.Is(err, banned) {
					t.Errorf("from %d: %v", source, err)
				}
			}
			e.own(func() { e.Allow(world) })
			if err := wait(over, e, 1, world); !errors.Is(err, context.Canceled) {
				t.Errorf("once it is allowed: %v", err)
			}
			e.clean()
		})
	}
}

// A blocking call for a message from any source ends at Pend, and fails after it; those for
// one from a certain rank, and those in other contexts, wait.
func TestBlockingCallsArePending(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, 3)
			e := g.engine(0)
			ctx, cancel := context.WithCancel(g.ctx)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- wait(ctx, e, AnySource, world) }()
			e.until("the call", func() bool { return e.match.Posted() > 1 || !e.probes.Empty() })
			e.own(func() { e.Pend(world, errUnsure) })
			cancel() // the call has ended
			if err := <-ended; err != errUnsure {
				t.Errorf("the call under way: %v", err)
			}
			for _, c := range []struct {
				source int
				cid    uint32
				want   error
			}{{AnySource, world, errUnsure}, {1, world, context.Canceled}, {AnySource, world + 2, context.Canceled}} {
				if err := wait(over, e, c.source, c.cid); !errors.Is(err, c.want) {
					t.Errorf("a later call for rank %d in context %d: %v", c.source, c.cid, err)
				}
			}
			e.own(func() { e.Unpend(world) })
			if err := wait(over, e, AnySource, world); !errors.Is(err, context.Canceled) {
				t.Errorf("behind Unpend: %v", err)
			}
			e.clean()
		})
	}
}

// A request for a message from any source is in doubt from Pend to Unpend, and has the
// message afterwards.
func TestRequestsArePending(t *testing.T) {
	g := newRig(t, 3)
	e, peer := g.engine(0), g.engine(1)
	begin := func(source int, cid uint32, i int32) []progress.Handle {
		return []progress.Handle{
			e.Irecv(g.ctx, source, cid, 2*i, nil),
			e.Isendrecv(g.ctx, cid, nil, ProcNull, 0, nil, source, 2*i+1),
		}
	}
	before := begin(AnySource, world, 0)
	certain, other := begin(1, world, 1), begin(AnySource, world+2, 2)
	e.own(func() { e.Pend(world, errUnsure) })
	later := begin(AnySource, world, 3)
	has := func(what string, hs []progress.Handle, want error) {
		t.Helper()
		for i, h := range hs {
			if ended, _, err := progress.Peek(h); ended || !errors.Is(err, want) {
				t.Errorf("%s, request %d: ended %t, %v", what, i, ended, err)
			}
		}
	}
	has("begun before", before, errUnsure)
	has("begun later", later, errUnsure)
	has("from a certain rank", certain, nil)
	has("in another context", other, nil)
	e.own(func() { e.Unpend(world) })
	all := [][]progress.Handle{before, certain, other, later}
	for i, hs := range all {
		has("behind Unpend", hs, nil)
		for j := range hs {
			cid := uint32(world)
			if i == 2 {
				cid += 2
			}
			peer.must(peer.Send(g.ctx, Standard, 0, cid, int32(2*i+j), nil))
			_, err := progress.Wait(&hs[j])
			e.must(err)
		}
	}
	e.clean()
}
