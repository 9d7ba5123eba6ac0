//go:build !race

// A program that goes on behind a death keeps no order with what the dead had begun: the
// race detector would be right.

package rma

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// blames returns nil if each error of a call is that of the dead, or follows from one:
// there is no epoch where it could not be opened.
func blames(err error, dead int) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			if err := blames(e, dead); err != nil {
				return err
			}
		}
		return nil
	}
	if next := errors.Unwrap(err); next != nil && !errors.As(next, new(*fabric.Error)) {
		if _, ok := err.(*RankError); !ok {
			return blames(next, dead)
		}
	}
	var of *RankError
	var locked *LockError
	var sync *SyncError
	var ended *EndedError
	switch {
	case err == nil, errors.As(err, &of) && of.Rank == dead, errors.As(err, &locked) && (locked.Dead == dead || !locked.Held), errors.As(err, &ended), errors.As(err, &sync):
		return nil
	}
	return fmt.Errorf("%w does not name the dead rank %d", err, dead)
}

// playDeath plays a program in which a rank dies at its call number at, and returns
// whether it came to that.
func (p *modelPlan) playDeath(g *mesh, dead, at int) (died bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), *modelWait)
	defer cancel()
	p.ends = 0 // a lock that is given up at a death may keep its rank from the next epoch
	m, err := p.begin(g)
	if err != nil {
		return false, err
	}
	m.ranks[dead].left = at
	err = m.everywhere(func(k *modelRank) error {
		var all error
		for _, s := range p.steps {
			if all = errors.Join(all, k.step(ctx, s)); k.dead {
				return nil
			}
		}
		if k.rank == dead { // it dies between calls, at last
			k.left = 1
			k.dies()
			return nil
		}
		return errors.Join(all, k.free(ctx))
	})
	died = m.ranks[dead].left <= 0
	if err = errors.Join(blames(err, dead), m.died, context.Cause(ctx)); err != nil {
		return died, err
	}
	for r := range p.n {
		if r == dead {
			continue
		}
		err := g.idle(r)
		for end := time.Now().Add(*modelWait); err != nil && time.Now().Before(end); err = g.idle(r) {
			runtime.Gosched() // what nobody waits for ends when the death is known
		}
		if err != nil {
			return died, err
		}
		var left int
		g.loops[r].Exclusive(func() { left = len(g.engines[r].wins) })
		if left != 0 {
			return died, fmt.Errorf("rank %d has %d windows left", r, left)
		}
	}
	return died, nil
}

// A rank that dies at any call of a program ends no call of the others but with an
// error that names it, keeps none of them waiting, and leaves nothing behind.
func TestADeathAtAnyCallOfTheModel(t *testing.T) {
	seeds := uint64(15)
	if testing.Short() {
		seeds = 3
	}
	for seed := *modelFrom; seed < *modelFrom+seeds; seed++ {
		for at, more := 1, true; more; at += 1 + at/3 {
			p := drawModel(seed)
			g, err := newMesh(fmt.Sprint("death ", seed), p.n, p.eager, memNetworks(p.n), func(a, b int) way { return p.ways[a][b] }, nil)
			if err != nil {
				t.Fatal(err)
			}
			dead := (int(seed) + at) % p.n
			more, err = p.playDeath(g, dead, at)
			more = more && at < 400
			if err = errors.Join(err, g.close()); err != nil {
				t.Fatalf("seed %d, %v, death of rank %d at its call %d: %v", seed, p, dead, at, err)
			}
		}
	}
}
