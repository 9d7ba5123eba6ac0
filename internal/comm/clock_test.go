package comm

import (
	"context"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/timeline"
	"github.com/weft-mpi/weft/internal/wire"
)

// The ranks of a process have one clock, so a reading of it lies between its question
// and its reply.
func TestAClockIsReadBetweenQuestionAndReply(t *testing.T) {
	in := engines(t, 2)[0]
	all := in.Clock(expiry.Expiry{}, 1)
	if len(all) != clockReadings {
		t.Fatalf("there are %d readings", len(all))
	}
	add, within := timeline.Monotonic()
	for _, r := range all {
		if at := r.Theirs - add; r.Heard < r.Asked || at < r.Asked-within || at > r.Heard+within {
			t.Errorf("the reading %+v is of %d, within %d", r, at, within)
		}
	}
}

func TestQuestionsForAClockEnd(t *testing.T) {
	in := engines(t, 2)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all := in.Clock(expiry.Of(ctx), 1); len(all) > 1 { // a reply may come as the wait begins
		t.Errorf("%d readings after the end of the context", len(all))
	}
	in.Fail(1)
	if all := in.Clock(expiry.Expiry{}, 1); len(all) > 0 {
		t.Errorf("a dead rank has replied %d times", len(all))
	}
}

func TestAQuestionForAClockThatIsNoneEndsItsRank(t *testing.T) {
	b := make([]byte, wire.ClockSize)
	for name, c := range map[string]struct {
		imm       uint64
		hdr, body []byte
	}{
		"no header": {}, "a kind that does not exist": {imm: wire.Clocks, hdr: b},
		"a question with a time": {hdr: wire.MakeClock(make([]byte, wire.ClockSize), 1, 1)}, "a body": {hdr: b, body: []byte{1}},
	} {
		in := engines(t, 2)[0]
		var down bool
		in.Loop.Exclusive(func() {
			conn := in.Loop.Conn(1)
			in.clocks.Deliver(1, wire.Clock, c.imm, c.hdr, c.body)
			down = conn.Down() != nil
		})
		if !down {
			t.Errorf("%s is taken", name)
		}
	}
}

// A reply to an earlier question, or of another rank, is not that to the present one.
func TestALateReplyIsNoReading(t *testing.T) {
	in := engines(t, 3)[0]
	c := &in.clocks
	in.Loop.Exclusive(func() {
		c.asks, c.number, c.now = 1, 7, timeline.Reading{Asked: 1}
		for _, r := range []struct {
			from   fabric.Peer
			number uint64
		}{{1, 6}, {2, 7}} {
			c.Deliver(r.from, wire.Clock, wire.ClockTell, wire.MakeClock(make([]byte, wire.ClockSize), r.number, 5), nil)
			if c.now.Heard != 0 {
				t.Errorf("%+v is taken", r)
			}
		}
		c.Deliver(1, wire.Clock, wire.ClockTell, wire.MakeClock(make([]byte, wire.ClockSize), 7, 5), nil)
		if c.now.Heard == 0 || c.now.Theirs != 5 {
			t.Error("the reply is not taken")
		}
	})
}
