package mpi_test

import (
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A receive that a layer above has put off is started by the progress thread, once the
// message has come to a rank that makes no call.
func TestAReceiveThatIsPutOffIsStarted(t *testing.T) {
	var unexpected atomic.Uint32
	var start atomic.Pointer[func()]
	late := mpi.LateReceives{Unexpected: &unexpected, Start: func() {
		if f := start.Load(); f != nil && unexpected.Load() == 1 && start.CompareAndSwap(f, nil) {
			(*f)()
		}
	}}
	err := mpi.Run(2, func(w *mpi.World) error {
		if w.Comm().Rank() == 1 {
			return mpi.Ssend(w.Comm(), []byte{7}, 0, 3)
		}
		buf := make([]byte, 1)
		started, failed := make(chan mpi.Request, 1), make(chan error, 1)
		f := func() {
			r, err := mpi.Irecv(w.Comm(), buf, 1, 3)
			if n := unexpected.Load(); n != 0 {
				t.Errorf("%d messages are left", n)
			}
			started <- r
			failed <- err
		}
		start.Store(&f)
		r := <-started
		if err := <-failed; err != nil {
			return err
		}
		_, err := r.Wait()
		if buf[0] != 7 {
			t.Errorf("%d has come", buf[0])
		}
		return err
	}, mpi.WithLateReceives(late), mpi.WithLockedThreads())
	if err != nil {
		t.Fatal(err)
	}
}
