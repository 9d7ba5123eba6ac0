package comm

import (
	"context"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// A rank may exit behind its last call, and what its transports have not handed over
// by then is lost. Messages of a Conn stay in order, so a peer that replies to an Echo
// has all that was sent to it before.

// echoes is the sink of Echoes, and the condition that Settle waits for. Its fields
// belong to the owner of the loop.
type echoes struct {
	progress.Passive
	in   *Instance
	open map[fabric.Peer]int // replies that are to come
}

// Settle blocks until the engines of all ranks that this one is connected to have
// what it has sent them, or are down, or ctx ends. A rank replies whenever it makes
// progress. With rests these ranks take this one's exit, until Back, for leaving in
// order. Non-local.
func (in *Instance) Settle(ctx context.Context, rests bool) error {
	e, says := &in.echoes, uint64(wire.EchoAsk)
	if rests {
		says = wire.EchoRest
	}
	in.Loop.Exclusive(func() {
		if e.open == nil {
			e.open = map[fabric.Peer]int{}
		}
		e.tell(says, func(p fabric.Peer) { e.open[p]++ })
	})
	return in.Loop.WaitFor(expiry.Of(ctx), e)
}

// Back takes back what Settle has said of this rank's exit. Local.
func (in *Instance) Back() {
	in.Loop.Exclusive(func() { in.echoes.tell(wire.EchoBack, func(fabric.Peer) {}) })
}

// tell sends an Echo to all ranks that this one is connected to.
func (e *echoes) tell(says uint64, each func(fabric.Peer)) {
	for p := range fabric.Peer(e.in.World.Size) {
		if int(p) != e.in.World.Rank && e.in.Loop.Connected(p) {
			each(p)
			e.in.Loop.Conn(p).Post(wire.Echo, says, nil)
		}
	}
}

// Ready makes echoes a progress.Watched.
func (e *echoes) Ready() (bool, error) { return len(e.open) == 0, nil }

func (e *echoes) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	l := e.in.Loop
	if kind != wire.Echo || imm >= wire.Echoes || len(hdr) != 0 || len(body) != 0 || imm == wire.EchoReply && e.open[from] == 0 {
		l.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
			Err: fmt.Errorf("%w: it sent an echo that is none", fabric.ErrPeerDown)})
		return
	}
	switch imm {
	case wire.EchoReply:
		if e.open[from]--; e.open[from] == 0 {
			delete(e.open, from)
		}
		return
	case wire.EchoRest, wire.EchoBack:
		l.Leaving(from, imm == wire.EchoRest)
	}
	if imm != wire.EchoBack {
		l.Conn(from).Post(wire.Echo, wire.EchoReply, nil)
	}
}

func (e *echoes) PeerDown(p fabric.Peer, _ error) { delete(e.open, p) }
