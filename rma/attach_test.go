package rma

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// Memory that is attached is written and read by its address; what is not, or not any
// more, is refused with its address, and the window goes on.
func TestADynamicWindowRefusesWhatIsNotAttached(t *testing.T) {
	eachWay(t, func(t *testing.T, n int, how way) {
		all := newRig(t, n, how).dynamic(t, 16)
		parts, at := make([][]byte, n), make([]uint64, n)
		for r, w := range all {
			parts[r] = make([]byte, 1000*n)
			var err error
			if at[r], err = w.Attach(parts[r]); err != nil {
				t.Fatal(err)
			}
		}
		each(t, all, func(ctx context.Context, w *Win) error {
			for r := range n {
				w.do(&Transfer{Src: pattern(1000, w.rank, r), Target: r, At: int(at[r]) + 1000*w.rank})
			}
			if err := w.flushAll(ctx, false); err != nil {
				return err
			}
			for r := range n {
				end := int(at[r]) + len(parts[r])
				for _, x := range []Transfer{
					{Src: make([]byte, 1), Target: r, At: end},
					{Src: make([]byte, 500), Target: r, At: end - 499},
					{Old: make([]byte, 500), Target: r, At: end - 400},
					{Src: make([]byte, 8), Target: r, At: 8},
				} {
					w.do(&x)
					var bad *RangeError
					if err := w.flush(ctx, r, false); !errors.As(err, &bad) || bad.Rank != r {
						return fmt.Errorf("%+v: %v, want that memory of rank %d is not attached", x.At-end, err, r)
					}
				}
				got := make([]byte, 1000)
				w.do(&Transfer{Old: got, Target: r, At: int(at[r]) + 1000*w.rank})
				if err := w.flush(ctx, r, false); err != nil {
					return err
				}
				if !bytes.Equal(got, pattern(1000, w.rank, r)) {
					return fmt.Errorf("the Get from %d is wrong", r)
				}
			}
			return nil
		})
		for r, w := range all {
			if err := w.Detach(parts[r]); err != nil {
				t.Fatal(err)
			}
			if w.Detach(parts[r]) == nil {
				t.Error("memory that is not attached is detached")
			}
			other := all[(r+1)%n]
			other.do(&Transfer{Src: make([]byte, 8), Target: r, At: int(at[r])})
			if err := other.flush(context.Background(), r, false); !errors.As(err, new(*RangeError)) {
				t.Errorf("%v after Detach", err)
			}
		}
	})
}

func TestWhatIsAttachedDoesNotOverlap(t *testing.T) {
	w := newRig(t, 1, reached).dynamic(t, 16)[0]
	mem := make([]byte, 100)
	for _, x := range []struct {
		lo, hi int
		ok     bool
	}{{10, 20, true}, {20, 30, true}, {15, 25, false}, {5, 11, false}, {5, 10, true}, {0, 100, false}, {12, 13, false}, {30, 100, true}} {
		if _, err := w.Attach(mem[x.lo:x.hi]); (err == nil) != x.ok {
			t.Errorf("%d to %d: %v", x.lo, x.hi, err)
		}
	}
}
