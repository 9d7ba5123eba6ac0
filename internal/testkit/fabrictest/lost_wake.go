package fabrictest

import (
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

func pingPongAll(t *testing.T, h Harness)    { pingPong(t, h, fabric.WakeAll, 1) }
func pingPongUrgent(t *testing.T, h Harness) { pingPong(t, h, fabric.WakeUrgent, 1|fabric.Urgent) }

func pingPong(t *testing.T, h Harness, w fabric.Wake, kind uint8) {
	r := open(t, h, 2)
	rounds := h.rounds(10000)
	r.together(func(n *node) {
		got := n.count()
		other := 1 - n.rank
		for i := range rounds {
			if n.rank == 0 {
				n.send(other, kind, uint64(i), nil, nil)
			}
			n.sleepUntil(w, "the other's message", func() bool { return *got == i+1 })
			if n.rank == 1 {
				n.send(other, kind, uint64(i), nil, nil)
			}
		}
	})
}

func armMeetsSendAll(t *testing.T, h Harness) { armMeetsSend(t, h, fabric.WakeAll, 1) }
func armMeetsSendUrgent(t *testing.T, h Harness) {
	armMeetsSend(t, h, fabric.WakeUrgent, 1|fabric.Urgent)
}

// delay lasts n times some nanoseconds.
func delay(turn *atomic.Int64, n int) {
	for range n {
		turn.Load()
	}
}

// armMeetsSend lets rank 0 send while rank 1 is between Arm and Wait, a little
// earlier or later each round.
func armMeetsSend(t *testing.T, h Harness, w fabric.Wake, kind uint8) {
	r := open(t, h, 2)
	rounds := h.rounds(20000)
	// turn is the round that rank 1 is about to sleep in. Its store pairs with
	// rank 0's load, which starts the round there.
	var turn atomic.Int64
	r.together(func(n *node) {
		if n.rank == 0 {
			for i := range rounds {
				n.wait("rank 1 to come to the round", func() bool {
					// Close at hand first, so that the two really meet.
					for range 100 {
						if turn.Load() > int64(i) {
							return true
						}
					}
					return false
				})
				delay(&turn, i%256)
				n.send(1, kind, uint64(i), nil, nil)
			}
			return
		}
		got := n.count()
		for i := range rounds {
			turn.Store(int64(i) + 1)
			delay(&turn, i/256*7%256)
			n.sleepUntil(w, "a message that met Arm", func() bool { return *got > i })
		}
	})
}

func wakesForRoom(t *testing.T, h Harness) {
	if !h.RingsForRoom {
		t.Skip("the harness does not promise it")
	}
	r := open(t, h, 2)
	const rounds = 50
	full, taken := newSignal(), newSignal()
	r.together(func(n *node) {
		got := n.count()
		if n.rank == 1 {
			for range rounds {
				n.hearOnly(full)
				want := *got + 1
				n.wait("a message of a full queue", func() bool { return *got >= want })
				n.say(taken)
			}
			return
		}
		sent := 0
		send := func() bool {
			if err := n.eps[1].Send(1, 0, nil, content(1, 64)); err == nil {
				sent++
				return true
			}
			return false
		}
		for range rounds {
			for n.idle(); send(); {
			}
			n.say(full)
			n.sleepUntil(fabric.WakeUrgent, "room in a full queue", send)
			n.hear(taken)
		}
	})
}
