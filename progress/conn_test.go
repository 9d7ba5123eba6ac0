package progress

import (
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// roomy takes every message.
type roomy struct {
	fabric.Endpoint
	sent int
}

func (r *roomy) Send(uint8, uint64, []byte, []byte) error {
	r.sent++
	return nil
}

// A peer with room for all of a backlog is listened to in between: it may say
// that it takes no more.
func TestABacklogIsSentInBursts(t *testing.T) {
	const many = 3*burst + 1
	ep := &roomy{}
	l := &Loop{conns: make([]Conn, 1)}
	c := &l.conns[0]
	c.loop, c.ep = l, ep
	for range many {
		p := l.packet()
		p.kind = 1
		c.enqueue(p)
	}
	for sent := 0; sent < many; {
		moved := l.flush()
		if moved == 0 || moved > burst {
			t.Fatalf("%d messages went at once, want 1 to %d", moved, burst)
		}
		sent += moved
		if ep.sent != sent {
			t.Fatalf("%d messages were sent, %d counted", ep.sent, sent)
		}
	}
	if c.Busy() || len(l.backlogged) > 0 {
		t.Error("the backlog is not empty")
	}
}
