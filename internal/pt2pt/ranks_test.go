package pt2pt

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// team is the context of a communicator whose ranks 0, 1 and 2 are the ranks 3, 0
// and 2 of a job of four.
const team = 40

func teamMap(t *testing.T) *group.Map { return teamOf(t, 3, 0, 2) }

func teamOf(t *testing.T, members ...int) *group.Map {
	t.Helper()
	m, err := group.New(members)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Whatever way a message comes, its source is the rank in the communicator.
func TestSourcesAreRanksOfTheCommunicator(t *testing.T) {
	g, m := newRig(t, 4), teamMap(t)
	var es [4]*engine
	for i := range es {
		es[i] = g.engine(i)
		es[i].opened(team, m, nil)
	}
	me := es[0]
	receive := func(name string, want, n int, source int, cid uint32, f func() (progress.Result, error)) {
		t.Helper()
		from := es[m.World(want)]
		if cid == world {
			from = es[want]
		}
		h := from.Isend(g.ctx, Standard, 0, cid, tag, pattern(n, 1))
		res, err := f()
		if err != nil || int(res.Source) != want || res.Tag != tag || res.Bytes != uint64(n) {
			t.Errorf("%s: %+v, %v; want a message of %d", name, res, err, want)
		}
		if _, err := progress.Wait(&h); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, n := range []int{0, 8, 100, 10000, 1 << 20} {
		buf := make([]byte, n)
		for _, cid := range []uint32{team, team + 1, world} {
			for _, from := range []int{0, 2, 1} {
				if cid == world && from == 0 || from == 1 && cid == team+1 {
					continue // of this rank to itself: once is enough
				}
				source := m.World(from)
				if cid == world {
					source = from
				}
				for _, source := range []int{source, AnySource} {
					name := fmt.Sprintf("%d bytes from %d in context %d, source %d", n, from, cid, source)
					receive(name+", received", from, n, source, cid, func() (progress.Result, error) {
						return me.Recv(g.ctx, source, cid, tag, buf)
					})
					receive(name+", waited for", from, n, source, cid, func() (progress.Result, error) {
						h := me.Irecv(g.ctx, source, cid, AnyTag, buf)
						return progress.WaitResult(&h)
					})
					receive(name+", persistent", from, n, source, cid, func() (progress.Result, error) {
						h := me.RecvInit(g.ctx, source, cid, tag, buf)
						defer progress.Release(&h)
						me.must(progress.Restart(h))
						return progress.WaitResult(&h)
					})
					receive(name+", probed", from, n, source, cid, func() (progress.Result, error) {
						found, err := me.Probe(g.ctx, source, cid, tag)
						me.must(err)
						again, ok, err := me.Iprobe(source, cid, tag)
						me.must(err)
						if got, err := me.Recv(g.ctx, source, cid, tag, buf); !ok || again != found || got != found {
							t.Errorf("%s: probes find %+v and %+v, it is %+v, %v", name, found, again, got, err)
						}
						return found, nil
					})
					receive(name+", claimed", from, n, source, cid, func() (progress.Result, error) {
						msg, found, err := me.Mprobe(g.ctx, source, cid, tag)
						me.must(err)
						if got, err := me.Mrecv(g.ctx, &msg, buf); got != found {
							t.Errorf("%s: %+v is claimed, it is %+v, %v", name, found, got, err)
						}
						return found, nil
					})
					receive(name+", in a pair", from, n, source, cid, func() (progress.Result, error) {
						h := me.Isendrecv(g.ctx, cid, nil, ProcNull, tag, buf, source, tag)
						return progress.WaitResult(&h)
					})
				}
			}
		}
	}
	for _, e := range es {
		e.clean()
	}
}

// Errors name the rank of the communicator, and that of the job.
func TestErrorsNameRanksOfTheCommunicator(t *testing.T) {
	g := newRig(t, 4)
	e := g.engine(0)
	e.opened(team, teamMap(t), nil)
	g.raw(2)
	living := g.raw(3)
	e.must(e.Send(g.ctx, Standard, 2, team, tag, nil))
	coll := e.Isend(g.ctx, Standard, 3, team+1, tag, make([]byte, 100000))
	recv := e.Irecv(g.ctx, 2, team, tag, nil)
	pair := e.Isendrecv(g.ctx, team, make([]byte, 100000), 2, tag, nil, 2, tag)
	g.net.Kill(2)
	check := func(what string, err error) {
		t.Helper()
		var r *RankError
		var f *fabric.Error
		if !errors.Is(err, fabric.ErrPeerDown) || !errors.As(err, &r) || r.Rank != 2 || !errors.As(err, &f) || f.Peer != 2 {
			t.Errorf("%s ended with %v", what, err)
		} else if errors.As(r.Err, new(*RankError)) {
			t.Errorf("%s ended with %v: it says so twice", what, err)
		}
	}
	res, err := progress.WaitResult(&recv)
	check("a receive", err)
	if res.Source != 2 {
		t.Errorf("the source that failed is %d", res.Source)
	}
	_, err = progress.WaitResult(&pair)
	check("a pair", err)
	op := living.next(wire.Cancel).imm // it is asked back
	living.send(0, wire.Cancelled, op, wire.MakeFlag(make([]byte, 8), true), nil)
	_, err = progress.WaitResult(&coll)
	check("a send of a collective call", err)
	check("a send", e.Send(g.ctx, Standard, 2, team, tag, nil))
	_, err = e.Probe(g.ctx, 2, team, tag)
	check("a probe", err)
	_, _, err = e.Iprobe(2, team, tag)
	check("a look", err)
	if err = e.Send(g.ctx, Standard, 2, world, tag, nil); errors.As(err, new(*RankError)) || !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("a send in the communicator of all ranks ended with %v", err)
	}
}

// A receive from any rank ends with the last of the others of its communicator,
// and collective calls with a death in theirs: what lives or dies outside changes
// nothing.
func TestACommunicatorIsItsOwnRanks(t *testing.T) {
	g := newRig(t, 5)
	e := g.engine(0)
	e.opened(team, teamMap(t), nil) // 3, 0 and 2
	const pair = team + 2
	e.opened(pair, teamOf(t, 0, 4), nil)
	var living *raw
	for i := 1; i < 5; i++ {
		r := g.raw(i)
		if i == 4 {
			living = r
		}
		e.must(e.Send(g.ctx, Standard, i, world, tag, nil))
	}
	wild, one := e.Irecv(g.ctx, AnySource, team, tag, nil), e.Irecv(g.ctx, 3, team+1, tag, nil)
	all := e.Irecv(g.ctx, AnySource, world, tag, nil)
	apart := e.Irecv(g.ctx, 4, pair+1, tag, nil)
	down := func(p int) {
		g.net.Kill(fabric.Peer(p))
		e.until("the death", func() bool { return e.loop.Conn(fabric.Peer(p)).Down() != nil })
	}
	still := func(what string, h progress.Handle) {
		t.Helper()
		if ended, _, err := progress.Peek(h); ended || err != nil {
			t.Errorf("%s has ended: %v", what, err)
		}
	}
	down(1)
	still("a collective call of ranks that live", one)
	down(2)
	still("a receive from any rank while one lives", wild)
	if _, err := progress.Wait(&one); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("a collective call of the dead ended with %v", err)
	}
	down(3)
	if _, err := progress.Wait(&wild); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("a receive from any of the dead ended with %v", err)
	}
	if _, err := e.Recv(g.ctx, AnySource, team, tag, nil); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("a later one ended with %v", err)
	}
	still("a collective call of others", apart)
	still("a receive from any rank of the job", all)
	living.send(0, wire.Eager, wire.Imm(pair+1, tag), nil, nil)
	if res, err := progress.WaitResult(&apart); err != nil || res.Source != 1 {
		t.Errorf("a collective call of those that live ended with %+v, %v", res, err)
	}
	progress.Cancel(all)
	progress.Wait(&all)
}

// A context that is not known yet has the job's ranks, and operations pay for those
// of a communicator only while there is one.
func TestRanksAreForgotten(t *testing.T) {
	g := newRig(t, 4)
	e := g.engine(0)
	g.raw(3).send(0, wire.Eager, wire.Imm(team, tag), nil, nil)
	if res, err := e.Recv(g.ctx, AnySource, team, tag, nil); err != nil || res.Source != 3 {
		t.Errorf("received %+v, %v", res, err)
	}
	e.opened(team, teamMap(t), nil)
	if e.unlike != 1 {
		t.Errorf("%d communicators have ranks of their own", e.unlike)
	}
	e.closed(team)
	if e.unlike != 0 {
		t.Errorf("%d communicators have ranks of their own behind the end of the last", e.unlike)
	}
}
