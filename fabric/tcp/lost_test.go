package tcp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

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

// The connection with a dead rank does not end where the network is cut. What has come
// over it is handed over all the same.
func TestANewsOfADeathEndsAConnectionThatIsSilent(t *testing.T) {
	cs := callers(t, 2, nil)
	cs[0].set.lostTime = forever
	cs[1].reach(t, cs[0], cs[0].card(t))
	sent := false
	poll(t, "a connection", func() bool {
		sent = sent || cs[1].eps[0].Send(1, 2, nil, []byte("word")) == nil
		return sent && cs[0].got[1] == 1
	}, cs...)
	if cs[1].eps[0].Send(1, 2, nil, []byte("its last")) != nil {
		t.Fatal("no room")
	}
	e := cs[0].endpoint(1)
	for waits := false; !waits; waits = cs[0].look(e) {
	}
	e.news = errKilled
	if cs[0].overdue(e); e.doomed {
		t.Error("it is given up though there may be more than has been read")
	}
	e.news, cs[0].set.lostTime = nil, 0
	cs[0].Lost(1, errKilled)
	poll(t, "the end of rank 1", func() bool { return cs[0].down[1] != nil }, cs[0])
	if cs[0].got[1] != 2 || cs[0].down[1] != errKilled {
		t.Errorf("%d messages of 2, then %v", cs[0].got[1], cs[0].down[1])
	}
}

// A rank that leaves does not wait for one of whose death it knows, and waits for others
// as long as the user has said.
func TestCloseDoesNotWaitForTheDead(t *testing.T) {
	ms := mates(t, 2, nil)
	a, b := ms[0], ms[1]
	meetAll(t, a, b)
	for a.d.eps[1].msg.clear() { // more than the kernel takes
		a.send(1, maxEager)
		a.d.Poll(a, 1)
	}
	a.d.Lost(1, errKilled)
	if err := a.d.Close(); err != nil { // without a deadline it waits for ever
		t.Error(err)
	}
	for v, want := range map[string]time.Duration{"": defaultDeadline, "3s": 3 * time.Second, "0": forever} {
		if s, err := readSettings(map[string]string{envDeadline: v}); err != nil || s.closeTime != want {
			t.Errorf("%q: a rank that leaves waits for %v, want %v, %v", v, s.closeTime, want, err)
		}
	}
}
