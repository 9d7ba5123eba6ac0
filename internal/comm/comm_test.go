package comm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// patience is when a test calls something hung.
const patience = 5 * time.Minute

// engines are the ranks of a job of goroutines. They end with the test.
func engines(t *testing.T, n int) (all []*Instance) {
	t.Helper()
	return drawing(t, n, func(int) func() uint32 { return nil })
}

// drawing is engines whose context ids are made of what draw(rank) draws.
func drawing(t *testing.T, n int, draw func(rank int) func() uint32) (all []*Instance) {
	t.Helper()
	return enginesOf(t, n, func(cfg *Config) { cfg.Draw = draw(cfg.Rank) }, unwrapped)
}

// over is drawing over the domains that wrap makes of a rank's.
func over(t *testing.T, n int, draw func(rank int) func() uint32, wrap func(rank int, d fabric.Domain) fabric.Domain) (all []*Instance) {
	t.Helper()
	return enginesOf(t, n, func(cfg *Config) { cfg.Draw = draw(cfg.Rank) }, wrap)
}

// configured is engines whose Config set has changed.
func configured(t *testing.T, n int, set func(*Config)) (all []*Instance) {
	t.Helper()
	return enginesOf(t, n, set, unwrapped)
}

func unwrapped(_ int, d fabric.Domain) fabric.Domain { return d }

// enginesOf is engines with both.
func enginesOf(t *testing.T, n int, set func(*Config), wrap func(rank int, d fabric.Domain) fabric.Domain) (all []*Instance) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	provider := mem.NewNetwork(n).Provider()
	var doms []fabric.Domain
	var addrs [][]byte
	for i := range n {
		d, err := provider.Open(fabric.Config{Rank: fabric.Peer(i), Size: n, Job: t.Name(), Log: log})
		if err != nil {
			t.Fatal(err)
		}
		doms, addrs = append(doms, wrap(i, d)), append(addrs, d.Addr())
	}
	for i, d := range doms {
		cfg := Config{
			Rank: i, Informed: true, Limits: pt2pt.DefaultLimits,
			Progress: progress.Config{Domain: d, Addrs: addrs, Log: log, Ranks: n, Oversubscribed: true},
		}
		set(&cfg)
		in := New(cfg)
		t.Cleanup(func() {
			in.End()
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		})
		all = append(all, in)
	}
	return all
}

// each calls f for all ranks at once and returns their errors.
func each(all []*Instance, f func(ctx context.Context, in *Instance) error) []error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, in := range all {
		wg.Go(func() { errs[i] = f(ctx, in) })
	}
	wg.Wait()
	return errs
}

// No rank leaves a barrier before all have come.
func TestABarrierWaitsForAllRanks(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			all := engines(t, n)
			var mu sync.Mutex
			come := make([]int, n)
			for rank, err := range each(all, func(ctx context.Context, in *Instance) error {
				for round := 1; round <= 50; round++ {
					mu.Lock()
					come[in.World.Rank] = round
					mu.Unlock()
					if err := in.World.Barrier(ctx, false); err != nil {
						return err
					}
					mu.Lock()
					late := slices.Min(come)
					mu.Unlock()
					if late < round {
						return fmt.Errorf("it has left barrier %d while a rank is at %d", round, late)
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// The first barrier of many ranks, and the last one, wait for each rank.
func TestABarrierByATreeWaitsForAllRanks(t *testing.T) {
	for _, n := range []int{treeFrom, treeFrom + 1, 100} {
		for _, late := range []int{0, 1, 2, n / 2, n - 2, n - 1} {
			for _, last := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d ranks, %d late, last %t", n, late, last), func(t *testing.T) {
					all := engines(t, n)
					var inside, left atomic.Int64
					for rank, err := range each(all, func(ctx context.Context, in *Instance) error {
						if in.World.Rank == late {
							for inside.Load() < int64(n-1) {
								runtime.Gosched()
							}
							for range 100 { // what is wrong happens soon
								runtime.Gosched()
							}
							if left.Load() > 0 {
								t.Error("others have left it without this rank")
							}
						}
						inside.Add(1)
						if err := in.World.Barrier(ctx, last); err != nil {
							return err
						}
						left.Add(1)
						return nil
					}) {
						if err != nil {
							t.Errorf("rank %d: %v", rank, err)
						}
					}
				})
			}
		}
	}
}

// Contexts are agreed on, even, and never the same, from whichever communicator.
func TestDuplicatesHaveContextsOfTheirOwn(t *testing.T) {
	const n, dups = 3, 20
	all := engines(t, n)
	ids := make([][]uint32, n)
	for rank, err := range each(all, func(ctx context.Context, in *Instance) error {
		from := []*Comm{in.World}
		for i := range dups {
			d, err := from[i/2].Dup(ctx)
			if err != nil {
				return err
			}
			if d.Rank != in.World.Rank || d.Size != n || d.Over() || d.Instance() != in || d.Library() != d.ID+1 {
				return fmt.Errorf("a duplicate is %+v", d)
			}
			from = append(from, d)
			ids[in.World.Rank] = append(ids[in.World.Rank], d.ID)
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if !slices.Equal(ids[0], ids[1]) || !slices.Equal(ids[0], ids[2]) {
		t.Fatalf("the ranks have agreed on %v", ids)
	}
	slices.Sort(ids[0])
	if len(slices.Compact(ids[0])) != dups || ids[0][0] == 0 {
		t.Errorf("the contexts are %v", ids[0])
	}
	for _, id := range ids[0] {
		if id%2 != 0 {
			t.Errorf("context %d is odd", id)
		}
	}
}

// A communicator is over once it is freed or its Instance has ended, and others
// are not.
func TestACommunicatorIsOverOnce(t *testing.T) {
	in := engines(t, 1)[0]
	dup := func() *Comm {
		d, err := in.World.Dup(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a, b := dup(), dup()
	if !a.Free() || !a.Over() || a.Free() {
		t.Error("a communicator is freed twice, or not at all")
	}
	if b.Over() || in.World.Over() || in.Ended() {
		t.Error("the end of one communicator is another's")
	}
	if !in.End() || !in.Ended() || in.End() {
		t.Error("an Instance ends twice, or not at all")
	}
	if !b.Over() || !in.World.Over() || b.Free() {
		t.Error("a communicator outlives its Instance")
	}
	if late := in.add(&Comm{in: in}); !late.Over() || len(in.live) > 0 {
		t.Error("a communicator that is made behind the end is not over")
	}
}

// A death ends a collective call of all ranks, whoever tells of it.
func TestALostRankEndsABarrier(t *testing.T) {
	all := engines(t, 3)
	reason := errors.New("it was killed")
	for rank, err := range each(all[:2], func(ctx context.Context, in *Instance) error {
		var told sync.WaitGroup
		defer told.Wait()
		if in.World.Rank == 0 {
			in.Lost(2, reason) // before it is connected: later its fabric would tell
		} else {
			told.Go(func() { in.Fail(2) })
		}
		return in.World.Barrier(ctx, false)
	}) {
		if !errors.Is(err, fabric.ErrPeerDown) || rank == 0 && !errors.Is(err, reason) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Sendrecv meets both ways of its send, and ProcNull on either side.
func TestSendrecv(t *testing.T) {
	all := engines(t, 2)
	for rank, err := range each(all, func(ctx context.Context, in *Instance) error {
		c, other := in.World, 1-in.World.Rank
		for _, n := range []int{8, 1 << 20} {
			out, got := make([]byte, n), make([]byte, n)
			for i := range out {
				out[i] = byte(i + c.Rank)
			}
			res, err := c.Sendrecv(ctx, out, other, 3, got, other, 3)
			if err != nil || int(res.Source) != other || res.Tag != 3 || res.Bytes != uint64(n) {
				return fmt.Errorf("%d bytes: %+v, %v", n, res, err)
			}
			for i := range got {
				if got[i] != byte(i+other) {
					return fmt.Errorf("byte %d of %d is %d", i, n, got[i])
				}
			}
		}
		res, err := c.Sendrecv(ctx, nil, pt2pt.ProcNull, 3, nil, pt2pt.ProcNull, 3)
		if err != nil || res.Source != pt2pt.ProcNull || res.Tag != pt2pt.AnyTag {
			return fmt.Errorf("with nobody: %+v, %v", res, err)
		}
		return c.Barrier(ctx, false)
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
