package tcp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

var errKilled = fmt.Errorf("%w: it was killed", fabric.ErrPeerDown)

// The dial of a rank that is dead is given up with the news, however long it would
// try. The deadline is off in these tests.
func TestANewsOfADeathEndsTheDial(t *testing.T) {
	cs := callers(t, 2, nil)
	silent, _ := stall(t, func(net.Conn) {})
	a := cs[1].card(t)
	a.Listen = []netip.AddrPort{silent}
	cs[0].reach(t, cs[1], a)
	cs[0].Lost(1, errKilled)
	cs[0].Lost(1, errors.New("it comes twice"))
	poll(t, "the end of rank 1", func() bool { return cs[0].down[1] != nil }, cs[0])
	if cs[0].down[1] != errKilled {
		t.Error(cs[0].down[1])
	}
	if err := cs[0].eps[1].Send(1, 2, nil, nil); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("Send: %v", err)
	}
}

// What a rank has sent before it died is handed over before its end, though the news
// comes before the owner has seen the connection.
func TestANewsOfADeathLosesNothing(t *testing.T) {
	cs := callers(t, 2, nil)
	cs[1].reach(t, cs[0], cs[0].card(t))
	sent := false
	poll(t, "a message to be sent", func() bool {
		sent = sent || cs[1].eps[0].Send(1, 2, nil, []byte("word")) == nil
		return sent && cs[0].pending.Load()
	}, cs[1])
	cs[0].Lost(1, errKilled)
	cs[1].crash()
	poll(t, "the end of rank 1", func() bool { return cs[0].down[1] != nil }, cs[0])
	if cs[0].got[1] != 1 {
		t.Errorf("%d messages of 1", cs[0].got[1])
	}
}

// While a peer that was welcomed may still say that it is ready, the news waits. It
// ends the peer where that one does not.
func TestANewsOfADeathWaitsForAWelcome(t *testing.T) {
	for _, ready := range []bool{false, true} {
		cs := callers(t, 2, nil)
		if err := cs[0].yield(1, forMessages); err != nil {
			t.Fatal(err)
		}
		cs[0].Lost(1, errKilled)
		if cs[0].pending.Load() {
			t.Fatal("the peer is down though it may have connected")
		}
		if ready {
			if !cs[0].made(1, forMessages, linkAccepting) {
				t.Error("the peer's connection is not used")
			}
			continue
		}
		cs[0].unyield(1, forMessages)
		poll(t, "the end of rank 1", func() bool { return cs[0].down[1] != nil }, cs[0])
		if err := cs[0].yield(1, forMessages); err == nil {
			t.Error("a dead rank is welcome")
		}
	}
}
