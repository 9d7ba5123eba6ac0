package partitioned

import (
	"errors"
	"runtime"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/progress"
)

// badWriter fails every Write.
type badWriter struct {
	fabric.Endpoint
	err error
}

func (w badWriter) Write(fabric.Remote, []byte) error { return w.err }
func (badWriter) Awake() bool                         { return false }

// A Write that fails though the peer lives ends both sides, for good.
func TestAFailedWriteEndsBothSides(t *testing.T) {
	es := pair(t, mem.NewNetwork(2).Provider(), true)
	b := make([]byte, 1<<20)
	s, r := es[0].PsendInit(t.Context(), 1, 2, 0, b, 4), es[1].PrecvInit(t.Context(), 0, 2, 0, make([]byte, len(b)), 4)
	hs := []progress.Handle{s.h, r.h}
	must(t, progress.RestartAll(hs))
	must(t, s.Ready(0, 3))
	for i := range hs {
		if _, err := progress.Wait(&hs[i]); err != nil {
			t.Fatal(err)
		}
	}
	bad := &fabric.Error{Op: "write", Err: fabric.ErrBadRemote}
	s.to.Store(&target{ep: badWriter{err: bad}})
	for round := range 2 {
		must(t, progress.RestartAll(hs))
		for round == 0 && s.began.Load() != s.round.Load() { // else the owner has the blocks read
			runtime.Gosched()
		}
		if err := s.Ready(1, 2); round == 1 && !errors.Is(err, bad) || round == 0 && err != nil {
			t.Errorf("round %d: Ready: %v", round, err)
		}
		if _, err := progress.Wait(&hs[0]); !errors.Is(err, bad) {
			t.Errorf("round %d: the send: %v", round, err)
		}
		if _, err := progress.Wait(&hs[1]); !errors.Is(err, ErrFreed) {
			t.Errorf("round %d: the receive: %v", round, err)
		}
	}
}
