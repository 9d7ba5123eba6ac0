package pt2pt

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// feeder is a domain whose peer has always sent as much as is asked for.
type feeder struct {
	fabric.Domain
	left int
	body []byte
	wake chan bool
}

func (f *feeder) Caps() fabric.Caps {
	return fabric.Caps{MaxEager: 8192, Chunk: 2048, RndvMin: 6144, RndvMinMapped: 4096, Get: true}
}
func (f *feeder) Connect(fabric.Peer, []byte) (fabric.Endpoint, error) { return feederEnd{}, nil }
func (f *feeder) Poll(h fabric.Handler, max int) int {
	n := min(max, f.left)
	f.left -= n
	for range n {
		h.Deliver(1, wire.Eager, wire.Imm(0, 1), nil, f.body)
	}
	return n
}
func (f *feeder) Arm(fabric.Wake) error { return nil }
func (f *feeder) Disarm()               {}
func (f *feeder) Stats(*fabric.Stats)   {}
func (f *feeder) Linger() *bool         { return nil }
func (f *feeder) Wait(time.Duration) error {
	<-f.wake
	return fabric.ErrClosed
}
func (f *feeder) Sleep(time.Duration) error { return fabric.ErrUnsupported }
func (f *feeder) Close() error              { return nil }
func (f *feeder) Wake() {
	select {
	case f.wake <- true:
	default:
	}
}

type feederEnd struct{ fabric.Endpoint }

func (feederEnd) Send(uint8, uint64, []byte, []byte) error { return nil }

// What the engine itself takes for a message of 8 bytes that is received into a
// window of 64: to post its receive and to take it.
func BenchmarkReceiveWindow(b *testing.B) {
	const window = 64
	f := &feeder{body: make([]byte, 8), wake: make(chan bool, 1)}
	l := progress.New(progress.Config{Domain: f, Addrs: make([][]byte, 2), Log: slog.New(slog.DiscardHandler)})
	e := New(l, 0, 2)
	l.Go()
	bufs := make([]byte, 8*window)
	var never context.Context
	hs := make([]progress.Handle, window)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		for i := range hs {
			hs[i] = e.Irecv(never, 1, 0, 1, bufs[i*8:][:8])
		}
		f.left = window
		if err := progress.WaitAll(hs, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/window, "ns/message")
	l.Close()
}

// What the engine itself takes to send a message of 8 bytes at once.
func BenchmarkSendNow(b *testing.B) {
	f := &feeder{wake: make(chan bool, 1)}
	l := progress.New(progress.Config{Domain: f, Addrs: make([][]byte, 2), Log: slog.New(slog.DiscardHandler)})
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
