package comm

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// What a rank has sent before it settled is at the other engine: a probe finds it.
func TestSettledMessagesHaveArrived(t *testing.T) {
	all := engines(t, 3)
	settled := make(chan struct{})
	for _, err := range each(all, func(ctx context.Context, in *Instance) error {
		const n = 200
		if in.World.Rank == 0 {
			defer close(settled)
			for i := range n {
				for to := 1; to < 3; to++ {
					if err := in.P2P.Send(ctx, pt2pt.Standard, to, 0, int32(i), make([]byte, 500)); err != nil {
						return err
					}
				}
			}
			return errors.Join(in.Settle(ctx, false), in.Settle(ctx, true))
		}
		<-settled
		for i := range n {
			if _, there, err := in.P2P.Iprobe(0, 0, int32(i)); err != nil || !there {
				t.Errorf("rank %d does not have message %d: %v", in.World.Rank, i, err)
			}
		}
		return nil
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestSettleEndsWithItsContext(t *testing.T) {
	in := engines(t, 2)[0]
	in.Loop.Exclusive(func() { in.echoes.open = map[fabric.Peer]int{1: 1} }) // a reply that does not come
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := in.Settle(ctx, false); !errors.Is(err, context.Canceled) {
		t.Errorf("Settle: %v", err)
	}
	in.Loop.Exclusive(func() { in.echoes.PeerDown(1, fabric.ErrPeerDown) })
	if err := in.Settle(t.Context(), false); err != nil {
		t.Errorf("Settle without a peer: %v", err)
	}
}

func TestAnEchoThatIsNoneEndsItsRank(t *testing.T) {
	for name, c := range map[string]struct {
		imm       uint64
		hdr, body []byte
	}{
		"a kind of echo that does not exist": {imm: wire.Echoes}, "a reply to nothing": {imm: wire.EchoReply},
		"an echo with a header": {hdr: []byte{1}}, "an echo with a body": {body: []byte{1}},
	} {
		in := engines(t, 2)[0]
		var down bool
		in.Loop.Exclusive(func() {
			conn := in.Loop.Conn(1)
			in.echoes.Deliver(1, wire.Echo, c.imm, c.hdr, c.body)
			down = conn.Down() != nil
		})
		if !down {
			t.Errorf("%s is taken", name)
		}
	}
}

// A communicator that has finished is over, and its id rests. Others go on.
func TestFinishEndsOneCommunicator(t *testing.T) {
	all := engines(t, 2)
	ended := errors.New("it has ended")
	for _, err := range each(all, func(ctx context.Context, in *Instance) error {
		c, err := in.Meet(ctx, Meeting{Key: "to be finished", Own: group.All(2)})
		if err != nil {
			return err
		}
		stays := in.P2P.Irecv(ctx, 1-in.World.Rank, 0, 1, make([]byte, 1))
		limited, cancel := context.WithCancel(ctx)
		defer cancel()
		ends := in.P2P.Irecv(limited, 1-in.World.Rank, c.ID, 1, make([]byte, 1))
		if err := in.World.Barrier(ctx, false); err != nil {
			return err
		}
		if !c.Finish(ended) || c.Finish(ended) || !c.Over() || in.World.Over() || !errors.Is(c.Broken(), ended) {
			t.Error("the communicator has not ended once")
		}
		if err := in.World.Barrier(ctx, false); err != nil {
			return err
		}
		cancel()
		if _, err := progress.WaitResult(&ends); !errors.Is(err, ended) {
			t.Errorf("a receive in it: %v", err)
		}
		if err := in.P2P.Send(ctx, pt2pt.Standard, 1-in.World.Rank, 0, 1, []byte{1}); err != nil {
			return err
		}
		if _, err := progress.WaitResult(&stays); err != nil {
			return err
		}
		free := true
		in.Loop.Exclusive(func() {
			free = in.P2P.Reserve(c.ID) || in.P2P.Forbidden(c.ID) != nil || in.P2P.Forbidden(c.Library()) != nil
		})
		if free {
			t.Error("its id is free, or bans are left")
		}
		return in.World.Barrier(ctx, false)
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}
