package rma

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/weft-mpi/weft/progress"
)

// A flush returns when the operations before it have ended, also if the flush of another
// goroutine has asked the target for them already.
func TestFlushesAtOnceWaitForTheSameOperations(t *testing.T) {
	for _, how := range []way{byFabric, packets} {
		t.Run(how.String(), func(t *testing.T) {
			all := newRig(t, 2, how).windows(t, 16, 8)
			var h [2]progress.Handle
			all[1].e.loop.Exclusive(func() { // it serves nothing meanwhile
				all[0].do(&Transfer{Code: 1, Kind: 9, Src: make([]byte, 8), Target: 1})
				for i := range h {
					h[i] = all[0].wait(t.Context(), "flush", all[0].targets[1].alone(), false)
				}
				for i := range h {
					if ended, _, err := progress.Test(&h[i]); ended || err != nil {
						t.Errorf("flush %d has ended before the operation: %v", i, err)
					}
				}
				if err := all[0].flush(t.Context(), 1, true); err != nil { // which waits for nobody
					t.Error(err)
				}
				if !all[0].targets[1].touched.Load() {
					t.Error("nothing is left to flush")
				}
			})
			for i := range h {
				if _, err := progress.WaitResult(&h[i]); err != nil {
					t.Error(err)
				}
			}
			if all[0].targets[1].touched.Load() {
				t.Error("something is left to flush")
			}
		})
	}
}

// A flush that ends with its context tells of the failures that it knows. The next one
// tells of the others.
func TestAFlushThatIsGivenUpLosesNoError(t *testing.T) {
	g := newRig(t, 3, packets)
	all := g.dynamic(t, 16)
	w := all[0]
	refused := func(err error, rank int) bool {
		var bad *RangeError
		return errors.As(err, &bad) && bad.Rank == rank
	}
	ctx, cancel := context.WithCancel(t.Context())
	all[2].e.loop.Exclusive(func() { // it serves nothing meanwhile
		for rank := 1; rank <= 2; rank++ {
			w.do(&Transfer{Src: make([]byte, 8), Target: rank, At: 8})
		}
		h := w.wait(ctx, "flush", nil, false)
		for waits := true; waits; runtime.Gosched() {
			w.e.loop.Exclusive(func() { waits = w.targets[1].flushes.first != nil })
		}
		cancel()
		if _, err := progress.WaitResult(&h); !errors.Is(err, context.Canceled) || !refused(err, 1) {
			t.Errorf("%v, want that the context has ended and that rank 1 has refused", err)
		}
	})
	if err := w.flushAll(t.Context(), false); !refused(err, 2) {
		t.Errorf("%v, want that rank 2 has refused", err)
	}
	if err := w.flushAll(t.Context(), false); err != nil {
		t.Error(err)
	}
}

// A Fence that is given up in its flush does not meet the others, so it can be called
// again.
func TestAFenceThatIsGivenUpMeetsNobody(t *testing.T) {
	all := newRig(t, 2, packets).windows(t, 16, 8)
	met := 0
	w := all[0]
	w.barrier = func(context.Context) error { met++; return nil }
	if err := w.Fence(t.Context(), 0); err != nil || met != 1 {
		t.Fatal(err, met)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	all[1].e.loop.Exclusive(func() { // it serves nothing meanwhile
		if err := w.Do(&Transfer{Src: make([]byte, 8), Target: 1}); err != nil {
			t.Fatal(err)
		}
		if err := w.Fence(ended, 0); !errors.Is(err, context.Canceled) || met != 1 {
			t.Errorf("a Fence whose context has ended: %v, after %d barriers", err, met)
		}
	})
	if err := w.Fence(t.Context(), 0); err != nil || met != 2 {
		t.Errorf("the Fence after it: %v, after %d barriers", err, met)
	}
}
