package pt2pt

import (
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// across is an intercommunicator of the ranks 0 and 3 of a job of five with the
// ranks 4 and 2, which are 0 and 1 to them.
const across = 60

func (e *engine) across(t *testing.T) {
	t.Helper()
	own, remote := teamOf(t, 0, 3), teamOf(t, 4, 2)
	if e.rank == 4 || e.rank == 2 {
		own, remote = remote, own
	}
	e.opened(across, own, remote)
}

// Peers are numbered as in the remote group, whichever call names them.
func TestSourcesAreRanksOfTheRemoteGroup(t *testing.T) {
	g := newRig(t, 5)
	e, from := g.engine(0), g.engine(2)
	e.across(t)
	from.across(t)
	check := func(what string, res progress.Result, err error) {
		t.Helper()
		if err != nil || res.Source != 1 {
			t.Errorf("%s: %+v, %v; want a message of 1", what, res, err)
		}
	}
	for _, cid := range []uint32{across, across + 1} {
		for _, n := range []int{8, 12000, 100000} {
			for _, source := range []int{2, AnySource} {
				send := func() progress.Handle { return from.Isend(g.ctx, Standard, 0, cid, tag, pattern(n, 1)) }
				buf := make([]byte, n)
				h := send()
				res, err := e.Probe(g.ctx, source, cid, tag)
				check("a probe", res, err)
				res, _, err = e.Iprobe(source, cid, tag)
				check("a look", res, err)
				res, err = e.Recv(g.ctx, source, cid, tag, buf)
				check("a receive", res, err)
				progress.Wait(&h)
				h = send()
				m, res, err := e.Mprobe(g.ctx, source, cid, tag)
				check("a matched probe", res, err)
				res, err = e.Mrecv(g.ctx, &m, buf)
				check("a matched receive", res, err)
				progress.Wait(&h)
				posted := e.Irecv(g.ctx, source, cid, AnyTag, buf)
				h = send()
				res, err = progress.WaitResult(&posted)
				check("a posted receive", res, err)
				progress.Wait(&h)
			}
		}
	}
	for _, e := range []*engine{e, from} {
		e.closed(across)
		e.is("at the end", across, phaseFreed)
		e.clean()
	}
}

// Point-to-point calls depend on the remote group, collective ones on both.
func TestDeathsInAnIntercommunicator(t *testing.T) {
	g := newRig(t, 5)
	e := g.engine(0)
	e.across(t)
	for i := 1; i < 5; i++ {
		g.raw(i)
		e.must(e.Send(g.ctx, Standard, i, world, tag, nil))
	}
	down := func(p int) {
		g.net.Kill(fabric.Peer(p))
		e.until("the death", func() bool { return e.loop.Conn(fabric.Peer(p)).Down() != nil })
	}
	check := func(what string, err error, rank, job int) {
		t.Helper()
		var r *RankError
		var f *fabric.Error
		if !errors.Is(err, fabric.ErrPeerDown) || !errors.As(err, &r) || r.Rank != rank || !r.Remote || !errors.As(err, &f) || int(f.Peer) != job {
			t.Errorf("%s ended with %v, want rank %d of the job, which is %d", what, err, job, rank)
		}
	}
	still := func(what string, h progress.Handle) {
		t.Helper()
		if ended, _, err := progress.Peek(h); ended || err != nil {
			t.Errorf("%s has ended: %v", what, err)
		}
	}
	end := func(what string, h *progress.Handle) error {
		t.Helper()
		ended, _, err := progress.Test(h)
		if !ended {
			t.Fatalf("%s waits still", what)
		}
		return err
	}
	collective := e.Irecv(g.ctx, 4, across+1, tag, nil)
	wild := e.Irecv(g.ctx, AnySource, across, tag, nil)
	down(1)
	still("a collective call, while a rank outside has died,", collective)
	down(3)
	err := end("a collective call", &collective)
	check("a collective call with a death in the local group", err, -1, 3)
	_, err = e.Recv(g.ctx, 4, across+1, tag, nil)
	check("a later one", err, -1, 3)
	still("a receive from any rank, while one of the local group has died,", wild)
	down(4)
	still("a receive from any rank, while one of the remote group lives,", wild)
	check("a send", e.Send(g.ctx, Standard, 4, across, tag, nil), 0, 4)
	_, err = e.Recv(g.ctx, 4, across, tag, nil)
	check("a receive", err, 0, 4)
	down(2)
	err = end("a receive from any rank", &wild)
	check("a receive from any rank", err, 1, 2)
	_, err = e.Probe(g.ctx, AnySource, across, tag)
	check("a probe", err, 1, 2)
	_, _, err = e.Iprobe(AnySource, across, tag)
	check("a look", err, 1, 2)
}

// The only rank of the remote group is connected to by a receive from any rank:
// else its death would go unseen.
func TestAReceiveConnectsToTheOnlyRemoteRank(t *testing.T) {
	g := newRig(t, 3)
	e := g.engine(0)
	g.raw(2)
	e.opened(across, teamOf(t, 0, 1), teamOf(t, 2))
	h := e.Irecv(g.ctx, AnySource, across, tag, nil)
	if e.own(func() {}); !e.loop.Connected(2) {
		t.Error("it is not connected to")
	}
	g.net.Kill(2)
	if _, err := progress.Wait(&h); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("it ended with %v", err)
	}
}

// A message of the local group, which collective calls may send, has no number.
func TestALocalRankHasNoNumber(t *testing.T) {
	g := newRig(t, 5)
	e := g.engine(0)
	e.across(t)
	g.raw(3).send(0, wire.Eager, wire.Imm(across+1, tag), nil, nil)
	if res, err := e.Recv(g.ctx, 3, across+1, tag, nil); err != nil || res.Source != -1 {
		t.Errorf("received %+v, %v", res, err)
	}
}
