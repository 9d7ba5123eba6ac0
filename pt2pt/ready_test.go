package pt2pt

import (
	"log/slog"
	"testing"
)

// A flood of late ready sends does not flood the log.
func TestOfManyLateReadySendsFewAreLogged(t *testing.T) {
	g := newRig(t, 2)
	e, from := g.engine(0), g.engine(1)
	var log simLog
	e.own(func() { e.log = slog.New(&log) })
	const count = 1000
	for range count {
		from.must(from.SendMode(g.ctx, Ready, 0, world, tag, nil))
	}
	e.until("all of them are there", func() bool { return e.match.Unexpected() == count })
	e.own(func() {
		if log.late != 10 || e.lates != count {
			t.Errorf("%d ready sends have made %d lines, want those of 1, 2, 4 to 512", e.lates, log.late)
		}
	})
	for range count {
		if _, err := e.Recv(g.ctx, 1, world, tag, nil); err != nil {
			t.Fatal(err)
		}
	}
}
