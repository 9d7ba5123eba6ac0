package shm

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// What a peer has sent before it closed is taken, whichever of the two has dialled.
func TestTheRingOfAPeerThatHasClosedIsTakenFirst(t *testing.T) {
	for _, first := range []int{0, 1} {
		ds := openJob(t, 2)
		a, b := newNode(t, ds[0]), newNode(t, ds[1])
		var to [2]fabric.Endpoint
		for _, from := range []int{first, 1 - first} {
			var err error
			if to[from], err = ds[from].Connect(fabric.Peer(1-from), ds[1-from].Addr()); err != nil {
				t.Fatal(err)
			}
			waitFor(t, "news of the connection", func() bool {
				a.d.mu.Lock()
				defer a.d.mu.Unlock()
				return len(a.d.events) > 0
			})
		}
		waitFor(t, "room", func() bool {
			b.d.Poll(b, 64)
			return to[1].Send(1, 0, nil, []byte("bye")) == nil
		})
		b.d.Close()
		waitFor(t, "its end", func() bool {
			a.d.Poll(a, 64)
			return a.down[1] != nil
		})
		if len(a.got) != 1 || !strings.Contains(a.down[1].Error(), "has closed") {
			t.Errorf("the dialler is rank %d: %q came, then %v", first, a.got, a.down[1])
		}
	}
}

// A peer that is given up is told so.
func TestAPeerThatIsGivenUpIsTold(t *testing.T) {
	p := newPair(t)
	p.n[0].d.corrupt(p.n[0].d.peers[1].rx, 0)
	waitFor(t, "the end of the peer", func() bool {
		p.n[0].d.Poll(p.n[0], 64)
		return p.n[0].down[1] != nil
	})
	waitFor(t, "the peer to be told", func() bool {
		p.n[1].d.Poll(p.n[1], 64)
		return p.n[1].down[0] != nil
	})
	if err := p.n[1].down[0]; !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("the peer is told %v", err)
	}
}

// Whoever connects to a rank that has given him up is told so.
func TestAConnectionComesTooLateForARankThatHasGivenThePeerUp(t *testing.T) {
	ds := openJob(t, 2)
	a, b := newNode(t, ds[0]), newNode(t, ds[1])
	a.d.fail(a.d.endpoint(1), &fabric.Error{Op: "connect", Peer: 1, HasPeer: true, Err: fabric.ErrPeerDown})
	if _, err := ds[1].Connect(0, ds[0].Addr()); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it to be told", func() bool {
		a.d.Poll(a, 64)
		b.d.Poll(b, 64)
		return b.down[0] != nil
	})
}
