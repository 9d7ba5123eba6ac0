package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// patience is when a test calls something hung. It bounds only what must come,
// and is many times what that takes.
const patience = 5 * time.Minute

// onEach runs a test on every fabric that joins goroutines, or on the one that
// joins the processes of this job.
func onEach(t *testing.T, f func(t *testing.T, fabric string)) {
	if team != nil {
		t.Run(team.fabric, func(t *testing.T) { f(t, team.fabric) })
		return
	}
	for _, fabric := range []string{"mem", "shm", "verbs", "tcp"} {
		t.Run(fabric, func(t *testing.T) {
			need(t, fabric)
			f(t, fabric)
		})
	}
}

// need skips the test on a fabric that this machine does not have. scripts/roce
// runs the tests where there is an RDMA device.
func need(t testing.TB, fabric string) {
	t.Helper()
	if err := mpi.FabricAvailable(fabric); err != nil {
		if os.Getenv("WEFT_ROCE") != "" {
			t.Fatalf("WEFT_ROCE is set: %v", err)
		}
		t.Skip(err)
	}
}

// readsAlone reports whether a rank reads a peer's memory without a call or thread
// of that peer.
func readsAlone(fabric string) bool { return fabric != "tcp" }

// run runs a job of n ranks that must succeed and end.
func run(t *testing.T, fabric string, n int, f func(w *mpi.World, c *mpi.Comm) error, opts ...mpi.Option) {
	t.Helper()
	if err := try(t, fabric, n, f, opts...); err != nil {
		t.Fatal(err)
	}
}

// try is run for a job that may fail. Its communicators have a context that
// ends before the test binary does. Whatever ranks share besides is shared or a
// signal, since they may be processes.
func try(t *testing.T, fabric string, n int, f func(w *mpi.World, c *mpi.Comm) error, opts ...mpi.Option) error {
	t.Helper()
	if team != nil {
		return team.try(t, n, f, opts)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("the test waited too long"))
	defer cancel()
	opts = append([]mpi.Option{mpi.WithFabric(fabric), mpi.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	done := make(chan error, 1)
	go func() {
		done <- mpi.Run(n, func(w *mpi.World) error { return f(w, w.Comm().WithContext(ctx)) }, opts...)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * patience):
		panic(fmt.Sprintf("%s: a job of %d ranks did not end", t.Name(), n))
	}
}

// pattern is n bytes that tell their place and their message.
func pattern(n, seed int) []byte {
	b := make([]byte, n)
	fill(b, seed)
	return b
}

func fill(b []byte, seed int) {
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed*31 + 1)
	}
}

// differs reports where b is not the pattern, or -1.
func differs(b []byte, seed int) int {
	for i := range b {
		if b[i] != byte(i*7+i>>8+seed*31+1) {
			return i
		}
	}
	return -1
}

// want checks the class of an error.
func want(t *testing.T, what string, err error, class mpi.Class) {
	t.Helper()
	if class == 0 {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	var e *mpi.Error
	if !errors.Is(err, class) || !errors.As(err, &e) || e.Class != class || e.Call == "" {
		t.Errorf("%s: error %v, want one of class %v", what, err, class)
	}
}
