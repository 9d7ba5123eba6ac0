package pt2pt

import (
	"bytes"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/progress"
)

// mixed is a job of four ranks on two networks: one joins each pair 0, 1 and
// 2, 3, like the memory of a machine, the other the rest.
func mixed(t *testing.T) []*Engine {
	t.Helper()
	const ranks = 4
	near, far := newRig(t, ranks), newRig(t, ranks, mem.WithDepth(16))
	var es []*Engine
	for rank := range ranks {
		via := make([]int, ranks)
		for p := range via {
			if p/2 != rank/2 {
				via[p] = 1
			}
		}
		first, second := near.open(rank), far.open(rank)
		small := &spy{Domain: second, caps: func(c *fabric.Caps) { c.MaxEager, c.Chunk, c.RndvMin, c.RndvMinMapped = 256, 128, 1000, 1000 }}
		l := progress.New(progress.Config{Domain: first, More: []fabric.Domain{small}, Via: via, Addrs: near.addrs(), Log: slog.New(slog.DiscardHandler)})
		es = append(es, New(l, rank, ranks))
		l.Go()
		t.Cleanup(func() {
			l.Close()
			first.Close()
			second.Close()
		})
	}
	return es
}

// One matching table above both: a wildcard receive takes what comes first from
// either, each peer's messages stay in order, and a rank that is asleep is woken
// by both.
func TestRanksTalkOverTwoFabricsAtOnce(t *testing.T) {
	es := mixed(t)
	sizes := []int{0, 8, 255, 256, 257, 999, 1000, 5000, 20_000, 100_000}
	var wg sync.WaitGroup
	errs := make([]error, len(es))
	for rank, e := range es {
		wg.Go(func() {
			errs[rank] = func() error {
				var hs []progress.Handle
				for p := range es {
					for i, n := range sizes {
						if p != rank {
							hs = append(hs, e.Isend(t.Context(), Standard, p, world, tag, pattern(n, rank*100+i)))
						}
					}
				}
				next := make([]int, len(es))
				in := make([]byte, sizes[len(sizes)-1])
				for range (len(es) - 1) * len(sizes) {
					res, err := e.Recv(t.Context(), AnySource, world, AnyTag, in)
					if err != nil {
						return err
					}
					p := int(res.Source)
					i := next[p]
					next[p]++
					if int(res.Bytes) != sizes[i] || !bytes.Equal(in[:res.Bytes], pattern(sizes[i], p*100+i)) {
						return fmt.Errorf("message %d of rank %d has %d bytes, or others", i, p, res.Bytes)
					}
				}
				return progress.WaitAll(hs, nil)
			}()
		})
	}
	wg.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
