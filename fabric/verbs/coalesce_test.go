package verbs

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// Messages that wait together share a SEND, and arrive one by one, whole and in
// their order.
func TestMessagesShareASend(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	e, o := eps[0].(*endpoint), &inOrder{t: t}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		ds[0].Poll(nobody{}, 64)
		sent := o.next
		for range 1 + rng.IntN(40) {
			n := []int{0, 1, 8, 41, 250, 1500, maxEager}[rng.IntN(7)]
			body := make([]byte, n)
			if sent++; n > 0 {
				body[n-1] = byte(sent)
			}
			if err := e.Send(1, sent, make([]byte, sent%5), body); err == fabric.ErrAgain {
				sent--
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		for ds[0].Poll(nobody{}, 64); o.next < sent; {
			was, max := o.next, 1+rng.IntN(3)
			if ds[1].Poll(o, max); o.next-was > uint64(max) {
				t.Fatalf("%d messages from a Poll for %d", o.next-was, max)
			}
		}
	}
	if e.sent > o.next/2 {
		t.Errorf("%d SENDs for %d messages", e.sent, o.next)
	}
	for range 100 {
		ds[0].Poll(nobody{}, 64)
		ds[1].Poll(o, 64)
	}
	if e.flushMark(); len(ds[0].freeSlots) < sendSlots-signalEvery || ds[1].inbound.e != nil {
		t.Errorf("%d slots of %d are free, the last parcel is %+v", len(ds[0].freeSlots), sendSlots, ds[1].inbound)
	}
}

// A window of messages takes few SENDs, and none waits for more than a batch of
// others.
func TestAWindowTakesFewSends(t *testing.T) {
	for _, c := range []struct {
		bytes int
		most  uint64
	}{{8, lone + 64/batch}, {600, lone + 64/batch + 64*600/slotSize + 3}} {
		ds, eps := connected(t, fakeJob(newFakeNet()))
		e := eps[0].(*endpoint)
		ds[0].Poll(nobody{}, 64)
		was := e.sent
		for i := range 64 {
			if err := e.Send(1, 0, nil, make([]byte, c.bytes)); err != nil {
				t.Fatal(err)
			}
			if n := ds[0].sends + ds[0].coalescing.messages; n >= batch {
				t.Fatalf("%d bytes: behind the %dth %d messages wait", c.bytes, i+1, n)
			}
		}
		ds[0].Poll(nobody{}, 64)
		if n := e.sent - was; n > c.most {
			t.Errorf("64 messages of %d bytes took %d SENDs, want at most %d", c.bytes, n, c.most)
		}
	}
}

// A SEND whose second message can't be gives its first, ends the peer, and
// leaves no slot behind.
func TestAParcelThatCanNotBeEndsThePeer(t *testing.T) {
	for _, tail := range [][]byte{make([]byte, 1), make([]byte, headerSize-1), {1, 255, 15: 0}, {1, 0, 0, 0, 1, 15: 0}} {
		ds, eps := connected(t, fakeJob(newFakeNet()))
		a, e := ds[0], eps[0].(*endpoint)
		a.inPoll = true // so that nothing goes
		for range 2 {
			if err := e.Send(1, 1, []byte{0}, make([]byte, 300)); err != nil {
				t.Fatal(err)
			}
		}
		a.inPoll = false
		s := &a.ring.Sends[0]
		if s.SGE[0].Length = uint32(aligned(headerSize+301) + copy(a.slot(a.coalescing.slot)[aligned(headerSize+301):], tail)); a.sends != 1 {
			t.Fatalf("%d SENDs", a.sends)
		}
		a.Poll(nobody{}, 64)
		m := newMourner()
		m.untilDown(t, ds[1])
		if m.heard != 1 || !errors.Is(eps[1].(*endpoint).down, fabric.ErrPeerDown) {
			t.Errorf("% x: %d messages, then %v", tail, m.heard, eps[1].(*endpoint).down)
		}
		if held := ds[1].inbound; held.e != nil {
			t.Errorf("% x: slot %d is kept", tail, held.slot)
		}
	}
}

// A peer's end comes behind all messages of a SEND of which a Poll took some.
func TestAPeersEndWaitsForItsParcel(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	a, b := ds[0], ds[1]
	a.inPoll = true // so that nothing goes
	for range 3 {
		if err := eps[0].Send(1, 0, nil, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	a.inPoll = false
	a.Poll(nobody{}, 64)
	m := newMourner()
	eventually(t, "the first message", func() bool {
		b.Poll(m, 1)
		return m.heard > 0
	})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	m.untilDown(t, b)
	if m.heard != 3 || b.inbound.e != nil {
		t.Errorf("%d messages, then the end, and the parcel %+v", m.heard, b.inbound)
	}
}
