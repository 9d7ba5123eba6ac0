package pt2pt

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// A flood of late ready sends does not flood the log.
func TestOfManyLateReadySendsFewAreLogged(t *testing.T) {
	g := newRig(t, 2)
	e, from := g.engine(0), g.engine(1)
	var log simLog
	e.own(func() { e.log = slog.New(&log) })
	const count = 1000
	for range count {
		from.must(from.Send(g.ctx, Ready, 0, world, tag, nil))
	}
	e.until("all of them are there", func() bool { return e.match.Unexpected() == count })
	e.own(func() {
		if log.late != 10 || e.lates != count {
			t.Errorf("%d ready sends have made %d lines, want those of 1, 2, 4 to 512", e.lates, log.late)
		}
	})
	for range count {
		if _, err := e.Recv(g.ctx, 1, world, tag, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// A receive that a goroutine has posted while another one owned the loop is
// there for a ready send that comes in the same turn.
func TestAReadySendFindsAReceiveThatIsQueued(t *testing.T) {
	for _, n := range []int{8, 3000, 1 << 20} {
		g := newRig(t, 2)
		e, from := g.engine(0), g.raw(1)
		out, in := pattern(n, 1), make([]byte, n)
		remote, err := from.d.Register(out, fabric.RemoteRead)
		e.must(err)
		kind, hdr, body := wire.EagerReady, []byte(nil), out
		switch {
		case n > 1<<16:
			kind, body = wire.RTS, nil
			hdr = wire.MakeRTS(make([]byte, wire.RTSSize), remote.Remote.Addr, uint64(n), remote.Remote.Key, 5, wire.Ready)
		case n > 1000: // a part comes first
			kind, body = wire.EagerFirst, out[:1000]
			hdr = wire.MakeFirst(make([]byte, wire.FirstSize), uint64(n), true)
		}
		var h progress.Handle
		e.own(func() {
			e.spy.before = func() {
				posted := make(chan struct{})
				go func() {
					h = e.Irecv(g.ctx, 1, world, tag, in)
					close(posted)
				}()
				<-posted
				from.send(0, kind, wire.Imm(world, tag), hdr, body)
			}
			e.loop.Look()
		})
		if kind == wire.EagerFirst {
			from.send(0, wire.EagerMore, 0, nil, out[1000:])
		}
		if st, err := progress.Wait(&h); err != nil || st.Bytes != uint64(n) || !bytes.Equal(in, out) {
			t.Errorf("%d bytes: %+v, %v", n, st, err)
		}
		if kind == wire.RTS {
			if p := from.next(wire.FIN); wire.FINHeader(p.hdr).Outcome() != wire.Received {
				t.Errorf("the sender is told %v", wire.FINHeader(p.hdr).Outcome())
			}
		}
		e.own(func() {
			if e.lates != 0 {
				t.Errorf("%d bytes: the send is called too early", n)
			}
		})
	}
}
