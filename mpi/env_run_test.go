package mpi_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// FailNow of package testing ends a rank so.
func TestARankWhoseGoroutineEndsFailsTheOthers(t *testing.T) {
	for _, fabric := range []string{"mem", "shm", "tcp"} {
		done := make(chan error, 1)
		go func() {
			done <- mpi.Run(2, func(w *mpi.World) error {
				if w.Comm().Rank() == 0 {
					runtime.Goexit()
				}
				_, err := mpi.Recv(w.Comm(), make([]byte, 1), 0, 1)
				want(t, "Recv", err, mpi.ErrProcFailed)
				return nil
			}, mpi.WithFabric(fabric))
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "rank 0: its function has ended the goroutine") {
				t.Errorf("%s: %v", fabric, err)
			}
		case <-time.After(patience):
			t.Fatalf("%s: the job did not end", fabric)
		}
	}
}

// The ready send is logged.
func TestNoLoggerIsTheDefaultOne(t *testing.T) {
	run(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) error {
		b := []byte{1}
		return errors.Join(mpi.Rsend(c, b, 0, 1), second(mpi.Recv(c, b, 0, 1)))
	}, mpi.WithLogger(nil))
}

func second[T any](_ T, err error) error { return err }
