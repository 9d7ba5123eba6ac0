package rma

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/progress"
)

// patience is when a test calls something hung.
const patience = 5 * time.Minute

// way is how operations between two ranks go in a test.
type way int

const (
	reached  way = iota // loads and stores
	byFabric            // the fabric's Put and Get, packets for the rest
	packets             // packets
	ways
)

func (w way) String() string { return [...]string{"reached", "by fabric", "packets"}[w] }

// limited is a domain that offers less than its own.
type limited struct {
	fabric.Domain
	way way
}

func (d limited) Caps() fabric.Caps {
	c := d.Domain.Caps()
	c.Reach = d.way == reached
	if d.way == packets {
		c.Put, c.Get, c.MaxEager = false, false, 64
	}
	return c
}

// rig is the ranks of a job of goroutines. They end with the test.
type rig struct {
	loops   []*progress.Loop
	engines []*Engine
}

func newRig(t testing.TB, n int, how way) *rig {
	t.Helper()
	return newRigOn(t, n, how, func(d fabric.Domain) fabric.Domain { return d })
}

// newRigOn is newRig on what wrap makes of each domain.
func newRigOn(t testing.TB, n int, how way, wrap func(fabric.Domain) fabric.Domain) *rig {
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
		doms, addrs = append(doms, wrap(limited{d, how})), append(addrs, d.Addr())
	}
	g := &rig{}
	for i, d := range doms {
		l := progress.New(progress.Config{Domain: d, Addrs: addrs, Log: log, Ranks: n, Oversubscribed: true})
		g.loops, g.engines = append(g.loops, l), append(g.engines, New(l, i, nil))
		l.Go()
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return g
}

// windows makes a window of all ranks, each with bytes bytes.
func (g *rig) windows(t testing.TB, id uint32, bytes int) []*Win {
	t.Helper()
	return g.with(t, id, 1, func() []byte { return make([]byte, bytes) })
}

// dynamic makes a dynamic window of all ranks.
func (g *rig) dynamic(t testing.TB, id uint32) []*Win {
	t.Helper()
	return g.with(t, id, Dynamic, func() []byte { return nil })
}

func (g *rig) with(t testing.TB, id uint32, unit int, mem func() []byte) []*Win {
	t.Helper()
	all := make([]*Win, len(g.engines))
	for i, e := range g.engines {
		var err error
		if all[i], err = e.Prepare(id, nil, i, len(all), mem(), unit, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, w := range all {
		parts := make([]Part, len(all))
		for k := range all {
			parts[k] = all[k].Part(i)
		}
		if err := w.Join(parts, nil); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// each calls f for all ranks at once and reports their errors.
func each(t testing.TB, all []*Win, f func(ctx context.Context, w *Win) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for i, w := range all {
		wg.Go(func() {
			if err := f(ctx, w); err != nil {
				t.Errorf("rank %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

// eachWay runs a test in each way and with some numbers of ranks.
func eachWay(t *testing.T, f func(t *testing.T, n int, how way)) {
	for how := range ways {
		for _, n := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%v/%d", how, n), func(t *testing.T) { f(t, n, how) })
		}
	}
}
