package rma

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/progress"
)

// pattern is n bytes that tell a and b from others.
func pattern(n, a, b int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7 + a*31 + b*101 + 1)
	}
	return p
}

// What was put and flushed can be got by any rank that was told.
func TestAPutIsThereAfterItsFlush(t *testing.T) {
	eachWay(t, func(t *testing.T, n int, how way) {
		for _, size := range []int{0, 1, 8, 63, 64, 65, 1000, 100_000} {
			all := newRig(t, n, how).windows(t, 16, n*size)
			each(t, all, func(ctx context.Context, w *Win) error {
				for r := range n {
					w.do(&Transfer{Src: pattern(size, w.rank, r), Target: r, At: size * w.rank})
				}
				return w.flushAll(ctx, false)
			})
			for r, w := range all {
				for from := range n {
					if !bytes.Equal(w.mem[size*from:][:size], pattern(size, from, r)) {
						t.Errorf("%d bytes from %d to %d are wrong", size, from, r)
					}
				}
			}
			each(t, all, func(ctx context.Context, w *Win) error {
				for r := range n {
					got := make([]byte, size)
					w.do(&Transfer{Old: got, Target: r, At: size * w.rank})
					if err := w.flush(ctx, r, false); err != nil {
						return err
					}
					if !bytes.Equal(got, pattern(size, w.rank, r)) {
						return fmt.Errorf("the Get of %d bytes from %d is wrong", size, r)
					}
				}
				return nil
			})
		}
	})
}

// Accumulates of all ranks add up, and each fetch sees another sum.
func TestAccumulatesAddUp(t *testing.T) {
	const rounds, elems = 50, 100
	eachWay(t, func(t *testing.T, n int, how way) {
		all := newRig(t, n, how).windows(t, 16, 8*(elems+1))
		ones := make([]byte, 8*elems)
		for i := range elems {
			binary.LittleEndian.PutUint64(ones[8*i:], 1)
		}
		seen := make([]map[uint64]bool, n)
		each(t, all, func(ctx context.Context, w *Win) error {
			seen[w.rank] = map[uint64]bool{}
			for range rounds {
				for r := range n {
					w.do(&Transfer{Code: op.CodeSum, Kind: op.Int64, Src: ones, Target: r})
				}
				old := make([]byte, 8)
				w.do(&Transfer{Code: op.CodeSum, Kind: op.Int64, Src: ones[:8], Old: old, Target: 0, At: 8 * elems})
				if err := w.flushAll(ctx, false); err != nil {
					return err
				}
				seen[w.rank][binary.LittleEndian.Uint64(old)] = true
			}
			return nil
		})
		for r, w := range all {
			for i := range elems {
				if got := binary.LittleEndian.Uint64(w.mem[8*i:]); got != uint64(n*rounds) {
					t.Fatalf("element %d of rank %d is %d, want %d", i, r, got, n*rounds)
				}
			}
		}
		tickets := map[uint64]bool{}
		for _, s := range seen {
			for v := range s {
				tickets[v] = true
			}
		}
		if len(tickets) != n*rounds {
			t.Errorf("%d fetches saw %d different values", n*rounds, len(tickets))
		}
	})
}

// A request completes when its memory is the caller's again, and a result is there.
func TestARequestCompletesWithItsResult(t *testing.T) {
	eachWay(t, func(t *testing.T, n int, how way) {
		all := newRig(t, n, how).windows(t, 16, 1<<16)
		for r, w := range all {
			copy(w.mem, pattern(1<<16, r, 0))
		}
		each(t, all, func(ctx context.Context, w *Win) error {
			r := (w.rank + 1) % n
			got := make([]byte, 1<<16)
			if err := w.Lock(ctx, false, r, NoCheck); err != nil {
				return err
			}
			h, err := w.Begin(&Transfer{Old: got, Target: r})
			if err != nil {
				return err
			}
			if _, err := progress.WaitResult(&h); err != nil {
				return err
			}
			if !bytes.Equal(got, pattern(1<<16, r, 0)) {
				return fmt.Errorf("the Rget from %d is wrong", r)
			}
			if h, err = w.Begin(&Transfer{Src: got[:0], Target: r}); err != nil {
				return err
			}
			if _, err = progress.WaitResult(&h); err != nil {
				return err
			}
			return w.Unlock(ctx, r)
		})
	})
}

// Each access epoch sees what the exposure epoch before it has left.
func TestPostStartCompleteWaitOrderTheirEpochs(t *testing.T) {
	eachWay(t, func(t *testing.T, n int, how way) {
		all := newRig(t, n, how).windows(t, 16, 8*n)
		each(t, all, func(ctx context.Context, w *Win) error {
			var others []int
			for r := range n {
				if r != w.rank || n == 1 {
					others = append(others, r)
				}
			}
			for round := range 200 {
				w.Post(others, 0)
				if err := w.Start(ctx, others, 0); err != nil {
					return err
				}
				var v [8]byte
				binary.LittleEndian.PutUint64(v[:], uint64(round*n+w.rank))
				for _, r := range others {
					w.do(&Transfer{Src: v[:], Target: r, At: 8 * w.rank})
				}
				if err := w.Complete(ctx); err != nil {
					return err
				}
				if err := w.Wait(ctx); err != nil {
					return err
				}
				for _, r := range others {
					if got := binary.LittleEndian.Uint64(w.mem[8*r:]); got != uint64(round*n+r) {
						return fmt.Errorf("round %d: %d from rank %d", round, got, r)
					}
				}
			}
			return nil
		})
	})
}

// An operation by loads and stores, and the flush behind it, leave nothing to the
// garbage collector: an allocation takes more time than a put.
func TestOperationsByLoadsAndStoresAllocateNothing(t *testing.T) {
	all := newRig(t, 2, reached).windows(t, 16, 64)
	each(t, all[:1], func(ctx context.Context, w *Win) error {
		if err := w.Lock(ctx, false, 1, 0); err != nil {
			return err
		}
		src, old := make([]byte, 8), make([]byte, 8)
		for name, x := range map[string]Transfer{
			"put":            {Src: src, Target: 1},
			"get":            {Old: old, Target: 1},
			"accumulate":     {Src: src, Kind: op.Int64, Target: 1},
			"get-accumulate": {Src: src, Old: old, Kind: op.Int64, Target: 1},
			"swap":           {Src: src, Old: old, Compare: src, Kind: op.Int64, Target: 1},
		} {
			if n := testing.AllocsPerRun(100, func() {
				y := x
				if err := w.Do(&y); err != nil {
					t.Error(err)
				}
				if err := w.Flush(ctx, 1, false); err != nil {
					t.Error(err)
				}
			}); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
		return w.Unlock(ctx, 1)
	})
}
