package mpi_test

import (
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A callback that panics, or ends its goroutine, ends neither the process nor the
// callbacks after it. The error handler sees the panic.
func TestAPanicOfACallbackIsAnError(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			saw := make(chan error, 1)
			ok(c.SetErrhandler(mpi.NewErrhandler(func(_ *mpi.Comm, err error) error {
				saw <- err
				panic("of the handler")
			})))
			told := newEnds(t)
			mine := errors.New("mine")
			for _, fn := range []func(mpi.Status, error){
				func(mpi.Status, error) { panic(mine) }, func(mpi.Status, error) { runtime.Goexit() }, told.call,
			} {
				ok(mpi.OnComplete(begin(mpi.Irecv(c, make([]byte, 1), 0, 1)), fn))
			}
			for range 3 {
				ok(mpi.Send(c, []byte{1}, 0, 1))
			}
			ok(told.next().err)
			if err := <-saw; !errors.Is(err, mine) {
				t.Errorf("the error handler has seen: %v", err)
			}
			ok(c.SetErrhandler(nil))
		})
	})
}

// The log has a panic that an error handler passes over, and one of the handler.
func TestTheLogHasThePanicOfACallback(t *testing.T) {
	var log logged
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		for i, handler := range []func(*mpi.Comm, error) error{
			func(*mpi.Comm, error) error { return errors.New("another error") },
			func(*mpi.Comm, error) error { panic("the handler's") },
		} {
			ok(c.SetErrhandler(mpi.NewErrhandler(handler)))
			told := newEnds(t)
			ok(mpi.OnComplete(begin(mpi.Isend(c, []byte{1}, 0, i)), func(mpi.Status, error) { panic("the callback's") }))
			get(mpi.Recv(c, make([]byte, 1), 0, i))
			ok(mpi.OnComplete(begin(mpi.Isend(c, []byte{1}, 0, i)), told.call))
			get(mpi.Recv(c, make([]byte, 1), 0, i))
			ok(told.next().err)
		}
		ok(c.SetErrhandler(nil))
	}, mpi.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	for text, n := range map[string]int{"the callback's": 2, "the handler's": 1} {
		if got := strings.Count(log.String(), text); got != n {
			t.Errorf("the log has %d panics of %q, want %d", got, text, n)
		}
	}
}
