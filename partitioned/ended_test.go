package partitioned

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// alone is the engine of a job of one rank.
func alone(t *testing.T, freed func(uint32) bool) *Engine {
	d, err := mem.NewNetwork(1).Provider().Open(fabric.Config{Size: 1, Job: "ended", Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	l := progress.New(progress.Config{Domain: d, Addrs: [][]byte{d.Addr()}, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { l.Close() })
	e := New(l, 0)
	e.HandleFreed(freed, nil, nil)
	l.Go()
	return e
}

// ends starts an operation and returns the error it ends with.
func ends(t *testing.T, h progress.Handle) error {
	t.Helper()
	must(t, progress.Restart(h))
	_, err := progress.Wait(&h)
	return err
}

// waiting is what is in the table: receives, and sends without one.
func (e *Engine) waiting() (n [2]int) {
	e.loop.Exclusive(func() { n = [2]int{e.table.Posted(), e.table.Unexpected()} })
	return n
}

const ended, other = 4, 6 // contexts

func TestASendWithoutAReceiveFailsWithItsCommunicator(t *testing.T) {
	e, buf := alone(t, nil), make([]byte, 8)
	init := func(cid uint32, tag int32) *Send {
		return e.PsendInit(context.Background(), 0, cid, tag, buf, 2)
	}
	lost, freed, kept := init(ended, 1), init(ended, 2), init(other, 1)
	release(t, &freed.h)
	e.loop.Exclusive(func() { e.Closed(ended) })
	if n := e.waiting(); n != [2]int{0, 1} {
		t.Errorf("%v wait, want one send", n)
	}
	if err := ends(t, lost.h); !errors.Is(err, ErrFreed) {
		t.Errorf("the send of the freed communicator ends with %v", err)
	}
	if err := kept.failed(); err != nil {
		t.Errorf("that of the other one has failed: %v", err)
	}
	// A later communicator of the same id has its own operations.
	again := e.PrecvInit(context.Background(), 0, ended, 1, make([]byte, 8), 2)
	if n := e.waiting(); n != [2]int{1, 1} || again.failed() != nil {
		t.Errorf("%v wait, and the receive has %v", n, again.failed())
	}
}

// A side that is made where operations end at once tells its peer that the communicator has
// been revoked only if that is why.
func TestASideThatIsRefusedSaysWhy(t *testing.T) {
	revoked, err := errors.New("revoked"), error(nil)
	e := alone(t, nil)
	e.loop.Exclusive(func() { e.HandleFreed(nil, func(uint32) error { return err }, revoked) })
	for _, c := range []struct {
		err  error
		want wire.PartEnd
	}{{revoked, wire.PartRevoked}, {fmt.Errorf("it was %w", revoked), wire.PartRevoked}, {errors.New("over"), wire.PartFailed}} {
		err = c.err
		send, recv := e.PsendInit(context.Background(), 0, other, 1, make([]byte, 8), 2), e.PrecvInit(context.Background(), 0, other, 1, make([]byte, 8), 2)
		if send.why != c.want || recv.why != c.want || !errors.Is(ends(t, send.h), c.err) {
			t.Errorf("%v: the send says %d and the receive %d, want %d", c.err, send.why, recv.why, c.want)
		}
	}
}

func TestASendThatComesForAFreedCommunicatorFails(t *testing.T) {
	e := alone(t, func(cid uint32) bool { return cid == ended })
	recv := e.PrecvInit(context.Background(), 0, ended, 1, make([]byte, 8), 2)
	first := e.PsendInit(context.Background(), 0, ended, 1, make([]byte, 8), 2)
	second := e.PsendInit(context.Background(), 0, ended, 1, make([]byte, 8), 2)
	if recv.failed() != nil || first.failed() != nil {
		t.Error("what was made before does not match")
	}
	if err := ends(t, second.h); !errors.Is(err, ErrFreed) {
		t.Errorf("the send ends with %v", err)
	}
	if n := e.waiting(); n != [2]int{} {
		t.Errorf("%v wait, want nothing", n)
	}
}

func TestNothingIsLeftOfACommunicatorThatHasEnded(t *testing.T) {
	e := alone(t, nil)
	gone := e.PrecvInit(context.Background(), 0, ended, 1, make([]byte, 8), 2)
	release(t, &gone.h) // keeps its place
	late := e.PrecvInit(context.Background(), 0, ended, 2, make([]byte, 8), 2)
	e.PrecvInit(context.Background(), 0, other, 1, make([]byte, 8), 2)
	e.PsendInit(context.Background(), 0, ended, 3, make([]byte, 8), 2)
	if n := e.waiting(); n != [2]int{3, 1} {
		t.Fatalf("%v wait", n)
	}
	e.loop.Exclusive(func() { e.Ended(ended) })
	if n := e.waiting(); n != [2]int{1, 0} {
		t.Errorf("%v wait, want the receive of the other communicator", n)
	}
	if err := ends(t, late.h); !errors.Is(err, ErrFreed) {
		t.Errorf("the receive ends with %v", err)
	}
	release(t, &late.h)
	left := 0
	e.loop.Exclusive(func() { e.names.each(func(*side) { left++ }) })
	if left != 2 {
		t.Errorf("%d sides are known, want 2", left)
	}
}

func release(t *testing.T, h *progress.Handle) {
	t.Helper()
	_, err := progress.Release(h)
	must(t, err)
}
