package pt2pt

import (
	"context"
	"log/slog"
	"testing"

	"github.com/weft-mpi/weft/internal/timeline"
	"github.com/weft-mpi/weft/progress"
)

// fed makes an engine whose peer is a feeder, and a receive of 8 bytes and a send.
func fed(t *testing.T, log *timeline.Log) (l *progress.Loop, recv, send func()) {
	t.Helper()
	f := &feeder{body: make([]byte, 8), wake: make(chan bool, 1)}
	l = progress.New(progress.Config{Domain: f, Addrs: make([][]byte, 2), Log: slog.New(slog.DiscardHandler), Timeline: log})
	e := New(l, 0, 2)
	l.Go()
	t.Cleanup(func() { l.Close() })
	buf := make([]byte, 8)
	var never context.Context
	feed := func() { f.left = 1 }
	return l, func() {
			h := e.Irecv(never, 1, 0, 1, buf)
			l.Exclusive(feed)
			if _, err := progress.Wait(&h); err != nil {
				t.Error(err)
			}
		}, func() {
			if err := e.Send(never, Standard, 1, 0, 1, buf); err != nil {
				t.Error(err)
			}
		}
}

func TestWithoutATimelineMessagesTakeNoMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l, recv, send := fed(t, nil)
	if l.Timeline() != nil {
		t.Error("there is a timeline that nobody asked for")
	}
	recv() // the first request of a loop makes a chunk of them
	if n := testing.AllocsPerRun(1000, func() { recv(); send() }); n > 0 {
		t.Errorf("a message takes %v allocations", n)
	}
}

func TestATimelineHasEachMessageOnce(t *testing.T) {
	log := timeline.NewLog(1 << 12)
	_, recv, send := fed(t, log)
	const messages = 300
	for range messages {
		recv()
		send()
	}
	all, _, dropped := log.Spans()
	sent, received, waits := uint64(0), uint64(0), 0
	for _, s := range all {
		switch s.Kind {
		case timeline.Send:
			if sent++; s.Seq != sent || s.Bytes != 8 || s.Peer != 1 || s.Tag != 1 || s.End < s.Begin {
				t.Fatalf("send %d is %+v", sent, s)
			}
		case timeline.Recv:
			if received++; s.Seq != received || s.Bytes != 8 || s.Peer != 1 || s.Tag != 1 || s.Announced < s.Begin || s.End < s.Announced {
				t.Fatalf("receive %d is %+v", received, s)
			}
		case timeline.Wait:
			waits++
		}
	}
	if sent != messages || received != messages || waits > messages || dropped != 0 {
		t.Errorf("%d sends, %d receives, %d waits, %d dropped", sent, received, waits, dropped)
	}
}

// What the engine and the timeline take to send a message of 8 bytes, see
// BenchmarkSendNow.
func BenchmarkSendRecorded(b *testing.B) {
	f := &feeder{wake: make(chan bool, 1)}
	l := progress.New(progress.Config{Domain: f, Addrs: make([][]byte, 2), Log: slog.New(slog.DiscardHandler), Timeline: timeline.NewLog(1 << 12)})
	e := New(l, 0, 2)
	l.Go()
	buf := make([]byte, 8)
	var never context.Context
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Send(never, Standard, 1, 0, 1, buf); err != nil {
			b.Fatal(err)
		}
	}
	l.Close()
}
