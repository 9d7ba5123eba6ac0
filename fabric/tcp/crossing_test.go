package tcp

import (
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// Two ranks dial each other at once, and each yields to the other before it hears
// that the other has yielded: rank 0, since its own dial had reached nothing. One of
// the connections stands, at both ranks, and no rank begins anew.
func TestOfTwoDialsThatCrossOneStands(t *testing.T) {
	cs := callers(t, 2, nil)
	low, high := cs[0], cs[1]
	for u := range uses {
		low.links[1].state[u], high.links[0].state[u] = linkDialing, linkDialing
		low.despair(1, u)
		if err := errors.Join(low.yield(1, u), high.yield(0, u)); err != nil {
			t.Fatal(err)
		}
		if high.made(0, u, linkDialing) {
			t.Error("the higher rank uses its own connection, and the lower one may, too")
		}
		if !low.made(1, u, linkDialing) {
			t.Fatal("neither uses its own connection")
		}
		low.unyield(1, u) // the higher rank has hung up
		if !high.made(0, u, linkAccepting) {
			t.Error("the higher rank does not use the lower one's connection")
		}
		for _, c := range cs {
			if got := c.links[1-c.cfg.Rank].state[u]; got != linkMade {
				t.Errorf("rank %d ends in state %d", c.cfg.Rank, got)
			}
		}
	}
}

// The higher rank's connection is the one if it stood before the lower rank called.
func TestADialThatIsWelcomeBeforeTheOtherCallsStands(t *testing.T) {
	cs := callers(t, 2, nil)
	low, high := cs[0], cs[1]
	low.links[1].state[forMessages], high.links[0].state[forMessages] = linkDialing, linkDialing
	low.despair(1, forMessages)
	if err := low.yield(1, forMessages); err != nil {
		t.Fatal(err)
	}
	if !high.made(0, forMessages, linkDialing) {
		t.Fatal("the dial that is welcome is not used")
	}
	if err := high.yield(0, forMessages); err == nil || errors.Is(err, greet.ErrCrossed) {
		t.Errorf("the lower rank's call: %v", err)
	}
	if !low.made(1, forMessages, linkAccepting) {
		t.Error("the lower rank does not use the connection")
	}
}
