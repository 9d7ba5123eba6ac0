package comm

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/timeline"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// clockReadings is how often a clock is read: the shortest round trip of so many is close
// to what the way takes at least.
const clockReadings = 32

// clocks is the sink of questions for clocks, and the condition that Clock waits for. Any
// rank replies, whether it records a timeline or not. Its fields belong to the owner of
// the loop.
type clocks struct {
	progress.Passive
	in     *Instance
	asks   fabric.Peer // whom this rank asks
	number uint64      // of the question under way, 0: there is none
	last   uint64      // number so far
	now    timeline.Reading
	hdr    [wire.ClockSize]byte
}

// Clock reads the clock of a rank a number of times, one after another, and returns what
// it has read when until ends, or the rank does. Calls come one at a time. Non-local.
func (in *Instance) Clock(until expiry.Expiry, rank int) (all []timeline.Reading) {
	c := &in.clocks
	for range clockReadings {
		in.Loop.Exclusive(func() {
			c.last++
			c.asks, c.number, c.now = fabric.Peer(rank), c.last, timeline.Reading{Asked: timeline.Now()}
			in.Loop.Conn(c.asks).Post(wire.Clock, wire.ClockAsk, wire.MakeClock(c.hdr[:], c.number, 0))
		})
		err := in.Loop.WaitFor(until, c)
		in.Loop.Exclusive(func() {
			c.number = 0
			if c.now.Heard > 0 {
				all = append(all, c.now)
			}
		})
		if err != nil || until.Over() { // a reply that is there already is no reason to go on
			break
		}
	}
	return all
}

// Ready makes clocks a progress.Watched.
func (c *clocks) Ready() (bool, error) {
	if c.now.Heard == 0 {
		return false, c.in.Loop.Conn(c.asks).Down()
	}
	return true, nil
}

func (c *clocks) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	l, h := c.in.Loop, wire.ClockHeader(hdr)
	switch {
	case kind != wire.Clock || !h.Valid(imm) || len(body) != 0:
		l.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
			Err: fmt.Errorf("%w: it sent a question for a clock that is none", fabric.ErrPeerDown)})
	case imm == wire.ClockAsk:
		l.Conn(from).Post(wire.Clock, wire.ClockTell, wire.MakeClock(c.hdr[:], h.Number(), timeline.Monotone()))
	case from == c.asks && h.Number() == c.number: // replies to earlier questions may still come
		c.now.Heard, c.now.Theirs = timeline.Now(), h.Time()
	}
}
