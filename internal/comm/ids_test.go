package comm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// repeat draws numbers in turn, over and over.
func repeat(numbers ...uint32) func() uint32 {
	i := -1
	return func() uint32 {
		i++
		return numbers[i%len(numbers)]
	}
}

// Ids are even, none is one that is no communicator's, and each rank has a sequence
// of its own.
func TestDrawnIdsMayBeACommunicators(t *testing.T) {
	g := newIDs(repeat(0, 1, 7, math.MaxUint32, pt2pt.Creation, 1<<31, 12), 0)
	for _, want := range []uint32{6, 1 << 31, 12, 6} {
		if id := g.next(); id != want {
			t.Errorf("%d is drawn, want %d", id, want)
		}
	}
	seen := map[uint32]int{}
	high := false
	const draws = 50
	for rank := range 8 {
		g := newIDs(nil, rank)
		for range draws {
			id := g.next()
			if id%2 != 0 || id == 0 || id == pt2pt.Creation {
				t.Errorf("rank %d draws %d", rank, id)
			}
			seen[id]++
			high = high || id >= 1<<31
		}
	}
	if !high || len(seen) < 8*draws-1 { // that two of 400 are the same has a chance of 1 to 27,000
		t.Errorf("of %d draws %d are different, one is in the upper half: %t", 8*draws, len(seen), high)
	}
}

// Draws of many goroutines of a rank are different.
func TestGoroutinesDrawDifferentIds(t *testing.T) {
	in := engines(t, 1)[0]
	var mu sync.Mutex
	seen := map[uint32]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				var id uint32
				in.Loop.Exclusive(func() { id = in.draw() })
				mu.Lock()
				if seen[id] {
					t.Errorf("%d is drawn twice", id)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// Rank 0 draws again what is taken at its side, and another rank where the id is
// taken says so.
func TestIdsThatClash(t *testing.T) {
	const n = 3
	all := drawing(t, n, func(int) func() uint32 { return repeat(12, 12, 14, 14, 16, 18, 20, 22) })
	dup := func(ctx context.Context, in *Instance) error {
		d, err := in.World.Dup(ctx)
		if err == nil && d.ID%2 != 0 {
			err = fmt.Errorf("the id is %d", d.ID)
		}
		return err
	}
	for range 2 {
		for rank, err := range each(all, dup) {
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	}
	if !all[2].reserve(16) { // of a creation in which ranks 0 and 1 have no part
		t.Fatal("16 can't be reserved")
	}
	for rank, err := range each(all, func(ctx context.Context, in *Instance) error {
		d, err := in.World.Dup(ctx)
		if err == nil && d.ID == 16 {
			err = errors.New("it has that id")
		}
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: Dup with the id of another creation: %v", rank, err)
		}
	}
	all[2].Loop.Exclusive(func() { all[2].P2P.Unreserve(16) })
	for rank, err := range each(all, dup) {
		if err != nil {
			t.Errorf("rank %d, later: %v", rank, err)
		}
	}
}

// An id is free again when its Dup has failed.
func TestAFailedDupKeepsNoId(t *testing.T) {
	all := drawing(t, 2, func(int) func() uint32 { return repeat(12) })
	all[0].Fail(1)
	if _, err := all[0].World.Dup(t.Context()); !errors.Is(err, fabric.ErrPeerDown) {
		t.Fatalf("Dup with a dead rank: %v", err)
	}
	if !all[0].reserve(12) {
		t.Error("its id is taken")
	}
}

// What is sent on a freed communicator is dropped, and the id rests. Others go on.
func TestAFreedCommunicatorReceivesNothing(t *testing.T) {
	const n = 2
	all := engines(t, n)
	for rank, err := range each(all, func(ctx context.Context, in *Instance) error {
		w := in.World
		d, err := w.Dup(ctx)
		if err != nil {
			return err
		}
		kept, err := d.Dup(ctx)
		if err != nil {
			return err
		}
		h := in.P2P.Isend(ctx, pt2pt.Synchronous, 1-w.Rank, d.ID, 1, nil)
		if !d.Free() || d.Free() {
			return errors.New("it is freed twice, or not at all")
		}
		if in.reserve(d.ID) {
			return errors.New("its id is free at once")
		}
		if _, err := progress.Wait(&h); !errors.Is(err, pt2pt.ErrFreed) {
			return fmt.Errorf("a send that nothing receives ended with %v", err)
		}
		if err := kept.Barrier(ctx, false); err != nil {
			return err
		}
		kept.Free()
		return w.Barrier(ctx, false)
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for _, in := range all {
		if s := in.Loop.Snapshot(); s.Value("weft_dropped_messages_total") != 1 || s.Value("weft_unexpected_messages") != 0 {
			t.Errorf("rank %d has dropped %v messages and keeps %v", in.World.Rank, s.Value("weft_dropped_messages_total"), s.Value("weft_unexpected_messages"))
		}
	}
}
