package shm

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/fabrictest"
)

// onHeap shows of the capabilities what holds for memory of the heap, which is
// what the suite gives: atomics need the arena, Get and Put need CMA.
type onHeap struct {
	fabric.Domain
	cma    bool
	sleeps bool // by a thread in Sleep, not in Wait
}

func (d onHeap) Wait(timeout time.Duration) error {
	if d.sleeps {
		return d.Sleep(timeout)
	}
	return d.Domain.Wait(timeout)
}

func (d onHeap) Caps() fabric.Caps {
	c := d.Domain.Caps()
	c.Atomics, c.Get, c.Put = false, d.cma, d.cma
	return c
}

func TestConformance(t *testing.T) {
	for _, cma := range []bool{true, false} {
		t.Run(fmt.Sprintf("cma=%t", cma), func(t *testing.T) {
			if d := openJob(t, 1)[0].(*Domain); !cma {
				refuseCMA(t)
			} else if probeCMA(os.Getpid(), d.probeAddr(), d.probe[0]) != nil {
				refusesCMA(t)
			}
			conform(t, onHeap{cma: cma})
		})
	}
}

// conform runs the suite over domains in the place of as.Domain.
func conform(t *testing.T, as onHeap) {
	fabrictest.Run(t, fabrictest.Harness{
		Open: func(t testing.TB, n int) []fabric.Domain {
			ds := openJob(t, n)
			for i := range ds {
				as.Domain = ds[i]
				ds[i] = as
			}
			return ds
		},
		Alloc:  allocOrFail,
		Writes: true,
	})
}

// The same with rings that grow when they are full.
func TestConformanceOfRingsThatGrow(t *testing.T) {
	refuseCMA(t)
	instead(t, &forHaste, 0)
	conform(t, onHeap{})
}

// The same for a rank whose thread sleeps in the kernel.
func TestConformanceOfSleep(t *testing.T) {
	refuseCMA(t) // the emulator of arm64 has none, and sleep does not ask for it
	conform(t, onHeap{sleeps: true})
}

func TestAtomicsOnTheArenaLoseNoUpdate(t *testing.T) {
	p := newPair(t)
	b, err := Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	defer Free(b)
	reg, err := p.n[0].d.Register(b, fabric.RemoteAtomic)
	if err != nil {
		t.Fatal(err)
	}
	if !p.n[0].d.Mapped(b) || p.n[0].d.Mapped(make([]byte, 64)) {
		t.Fatal("not exactly the memory of the arena is mapped")
	}
	const rounds = 2000
	var wg sync.WaitGroup
	for i := range 2 { // each rank on both: the one it owns and its own view
		n, ep := p.n[1], p.ep[1]
		if i == 0 {
			// Rank 0 acts on its own memory with the processor's atomics.
			wg.Go(func() {
				var old uint64
				for range rounds {
					apply(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &old}, word64(b, 8))
				}
			})
			continue
		}
		wg.Go(func() {
			var old, seen uint64
			dst := reg.Remote
			dst.Addr += 8
			dst.Len -= 8
			for k := range rounds {
				err := ep.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &old}, dst, fabric.Op(k))
				if err != nil {
					t.Errorf("Atomic: %v", err)
					return
				}
				if k > 0 && old <= seen {
					t.Errorf("old value %d after %d", old, seen)
					return
				}
				seen = old
				n.d.Poll(n, 64)
			}
		})
	}
	wg.Wait()
	if got := *word64(b, 8); got != 2*rounds {
		t.Errorf("%d after %d additions", got, 2*rounds)
	}
	// Compare and swap, hit and miss.
	var old uint64
	for _, c := range []struct{ compare, set, old, after uint64 }{{2 * rounds, 7, 2 * rounds, 7}, {8, 9, 7, 7}} {
		dst := fabric.Remote{Addr: reg.Addr + 8, Len: 8, Key: reg.Key}
		err := p.ep[1].Atomic(fabric.Atomic{Kind: fabric.CompareSwap, Compare: c.compare, Operand: c.set, Result: &old}, dst, 1<<40+fabric.Op(c.set))
		if err != nil || old != c.old || *word64(b, 8) != c.after {
			t.Errorf("CompareSwap(%d, %d): old %d, now %d, %v", c.compare, c.set, old, *word64(b, 8), err)
		}
	}
	op := fabric.Op(1 << 50)
	for what, dst := range map[string]fabric.Remote{
		"not aligned":     {Addr: reg.Addr + 4, Len: 8, Key: reg.Key},
		"too short":       {Addr: reg.Addr, Len: 7, Key: reg.Key},
		"an unknown key":  {Addr: reg.Addr, Len: 8, Key: 77},
		"outside":         {Addr: 1 << 40, Len: 8, Key: keyArena},
		"around the end":  {Addr: 1<<64 - 8, Len: 8, Key: keyArena},
		"beyond the file": {Addr: 1<<36 - 8, Len: 8, Key: keyArena},
	} {
		op++
		err := p.ep[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &old}, dst, op)
		if err == nil {
			p.until("the completion", func() bool { _, ok := p.n[1].done[op]; return ok })
			err = p.n[1].done[op]
		}
		if !errors.Is(err, fabric.ErrBadRemote) && !errors.Is(err, fabric.ErrUnsupported) {
			t.Errorf("Atomic on memory %s: %v", what, err)
		}
	}
}
