package rma

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
)

// modelRun is a program that is played.
type modelRun struct {
	p     *modelPlan
	g     *mesh
	clock atomic.Int64
	wins  []*playedWindow
	died  error // of the end of the one that dies
	ranks []*modelRank
}

type playedWindow struct {
	all    []*Win
	mem    [][]byte // the parts
	gaps   []int    // where the second piece of a part of a dynamic window begins
	apart  [][2][]byte
	addrs  [][2]uint64
	now    [][]byte // what the model knows of the parts
	after  [][]byte // what the ranks have found behind a step
	counts sync.Map // by block: how often it was counted up
}

// modelRank is a rank that plays.
type modelRank struct {
	m       *modelRun
	rank    int
	flushes map[[2]int]int // by window and target
	open    []*modelOp     // that no flush has covered
	handles map[*modelOp]progress.Handle
	round   int
	left    int        // calls until the rank dies, if it does
	fates   *rand.Rand // draws contexts that end, nil for none
	dead    bool
	failed  error // of requests
}

// dies counts the calls of a rank, and closes its loop at the one where it dies.
func (k *modelRank) dies() bool {
	if k.left--; k.left == 0 {
		k.dead = true
		k.m.g.gate.breaks(&RankError{k.rank, fabric.ErrPeerDown})
		k.m.died = k.m.g.kill(k.rank)
	}
	return k.dead
}

// at is where a byte of a part is for operations.
func (w *playedWindow) at(rank, at int) int {
	if w.addrs == nil {
		return at
	}
	if gap := w.gaps[rank]; at >= gap {
		return int(w.addrs[rank][1]) + at - gap
	}
	return int(w.addrs[rank][0]) + at
}

// part is the memory of a rank, in one or two pieces.
func (w *playedWindow) part(rank int) (both [2][]byte) {
	if w.addrs == nil {
		both[0] = w.mem[rank]
		return both
	}
	return w.apart[rank]
}

// read is a copy of a part.
func (w *playedWindow) read(rank int) []byte {
	both := w.part(rank)
	return append(bytes.Clone(both[0]), both[1]...)
}

// store stores to a block of the rank's own part.
func (w *playedWindow) store(b *modelBlock) {
	both := w.part(b.rank)
	if gap := len(both[0]); b.at >= gap {
		copy(both[1][b.at-gap:], b.first)
	} else {
		copy(both[0][b.at:], b.first)
	}
}

func (m *modelRun) makeWindow(id uint32, mw modelWindow) (*playedWindow, error) {
	w := &playedWindow{now: make([][]byte, m.p.n), after: make([][]byte, m.p.n)}
	for r, size := range mw.sizes {
		w.now[r] = make([]byte, size)
		mem := alignedBytes(size)
		if m.g.alloc != nil && size > 0 {
			var err error
			if mem, err = m.g.alloc(size); err != nil {
				return nil, err
			}
		}
		w.mem = append(w.mem, mem)
	}
	var err error
	switch {
	case mw.dynamic:
		if w.all, err = m.g.window(id, nil, Dynamic); err != nil {
			return nil, err
		}
		for r, mem := range w.mem {
			gap := len(mem) / 2 &^ 7
			both := [2][]byte{bytes.Clone(mem[:gap:gap]), mem[gap:]}
			var addrs [2]uint64
			for i := range both {
				if len(both[i]) > 0 {
					if addrs[i], err = w.all[r].Attach(both[i]); err != nil {
						return nil, err
					}
				}
			}
			w.gaps, w.apart, w.addrs = append(w.gaps, gap), append(w.apart, both), append(w.addrs, addrs)
		}
	case mw.shared:
		var parts []Extent
		for _, size := range mw.sizes {
			parts = append(parts, Extent{Bytes: size, Unit: 1})
		}
		whole := make([][]byte, m.p.n)
		n, _ := Total(parts)
		if whole[0] = alignedBytes(n); m.g.alloc != nil && n > 0 {
			if whole[0], err = m.g.alloc(n); err != nil {
				return nil, err
			}
		}
		if w.all, err = m.g.window(id, whole, 1); err != nil {
			return nil, err
		}
		for r, x := range w.all {
			if !x.Divide(parts) {
				return nil, errors.New("the ranks do not reach the shared window")
			}
			w.mem[r] = x.Memory()
		}
	default:
		w.all, err = m.g.window(id, w.mem, 1)
	}
	return w, err
}

// begin makes the windows of a program.
func (p *modelPlan) begin(g *mesh) (*modelRun, error) {
	if p.separate {
		g.line = func(int) string { return "" }
	}
	m := &modelRun{p: p, g: g}
	for _, e := range g.engines {
		e.kept, e.encodings.longest = p.kept, p.longest
	}
	for i, mw := range p.wins {
		w, err := m.makeWindow(uint32(16+16*i), mw)
		if err != nil {
			return nil, err
		}
		m.wins = append(m.wins, w)
	}
	for r := range p.n {
		k := &modelRank{m: m, rank: r, flushes: map[[2]int]int{}, handles: map[*modelOp]progress.Handle{}}
		if p.ends != 0 {
			k.fates = rand.New(rand.NewPCG(p.ends, uint64(r)))
		}
		m.ranks = append(m.ranks, k)
	}
	return m, nil
}

// play plays a program and returns what broke.
func (p *modelPlan) play(g *mesh) error {
	ctx, cancel := context.WithTimeout(context.Background(), *modelWait)
	defer cancel()
	m, err := p.begin(g)
	if err != nil {
		return err
	}
	for i, s := range p.steps {
		if err := m.everywhere(func(k *modelRank) error { return k.step(ctx, s) }); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if err := m.check(s); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		for r := range p.n {
			if err := g.idle(r); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
		}
	}
	return m.everywhere(func(k *modelRank) error { return k.free(ctx) })
}

// free frees the windows.
func (k *modelRank) free(ctx context.Context) (err error) {
	for _, w := range k.m.wins {
		x := w.all[k.rank]
		err = errors.Join(err, k.patiently(ctx, callOpens, x, 0, func(ctx context.Context) error { return x.Fence(ctx, NoSucceed) }),
			k.patiently(ctx, callOpens, x, 0, x.Free))
	}
	return err
}

func (m *modelRun) everywhere(f func(k *modelRank) error) error {
	var all sync.WaitGroup
	errs := make([]error, m.p.n)
	for r, k := range m.ranks {
		all.Go(func() {
			if errs[r] = f(k); errs[r] != nil {
				errs[r] = fmt.Errorf("rank %d: %w", r, errs[r])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// step plays a step of a program at a rank.
func (k *modelRank) step(ctx context.Context, s *modelStep) (err error) {
	m := k.m
	try := func(e error) { err = errors.Join(err, e) }
	for _, b := range s.blocks {
		if b.rank == k.rank && b.first != nil {
			m.wins[b.win].store(b)
		}
	}
	for _, w := range s.wins {
		try(k.sync(ctx, w))
	}
	try(m.g.gate.wait(ctx))
	for k.round = range 3 {
		var active []int
		trust := false
		for _, w := range s.wins {
			if u := s.use[w]; k.round < u.rounds {
				active = append(active, w)
				trust = trust || u.trust
			}
		}
		for _, w := range active {
			try(k.expose(ctx, w, s.use[w]))
		}
		if trust { // at all ranks, or at none
			try(m.g.gate.wait(ctx))
		}
		for _, w := range active {
			try(k.opens(ctx, w, s.use[w]))
		}
		for _, it := range s.items[k.rank][k.round] {
			try(k.do(ctx, it))
		}
		for _, w := range active {
			try(k.ends(ctx, w, s.use[w]))
		}
	}
	k.look()
	for _, w := range s.wins {
		if s.use[w].scheme <= byPost { // its end is all that a rank needs
			m.wins[w].after[k.rank] = m.wins[w].read(k.rank)
		}
	}
	try(k.failed)
	k.failed = nil
	try(m.g.gate.wait(ctx))
	k.look()
	for _, w := range s.wins {
		if s.use[w].scheme > byPost {
			try(k.sync(ctx, w))
			m.wins[w].after[k.rank] = m.wins[w].read(k.rank)
		}
	}
	return err
}

// sync makes the copies of a part with separate memory alike.
func (k *modelRank) sync(ctx context.Context, w int) error {
	if !k.m.p.separate {
		return nil
	}
	x := k.m.wins[w].all[k.rank]
	return errors.Join(x.LockAll(ctx, NoCheck), x.Sync(), x.UnlockAll(ctx))
}

// group is whom a rank exposes its part to, or whose parts it may use.
func (u *usage) group(rank int, targets bool) (group []int) {
	for r := range u.reaches {
		if targets && u.reaches[rank][r] || !targets && u.reaches[r][rank] {
			group = append(group, r)
		}
	}
	return group
}

func (u *usage) assert() (a Assert) {
	if u.trust {
		a = NoCheck
	}
	return a
}

func (k *modelRank) expose(ctx context.Context, w int, u *usage) error {
	if u.scheme != byPost || k.dies() {
		return nil
	}
	return k.m.wins[w].all[k.rank].Post(u.group(k.rank, false), u.assert())
}

func (k *modelRank) opens(ctx context.Context, w int, u *usage) (err error) {
	if k.dies() {
		return nil
	}
	x := k.m.wins[w].all[k.rank]
	switch u.scheme {
	case byFence:
		if k.round == 0 {
			err = k.patiently(ctx, callOpens, x, 0, func(ctx context.Context) error { return x.Fence(ctx, NoPrecede) })
		}
	case byPost:
		err = k.patiently(ctx, callOpens, x, 0, func(ctx context.Context) error { return x.Start(ctx, u.group(k.rank, true), u.assert()) })
	case byLockAll:
		err = k.lock(ctx, x, false, lockEverywhere, u.assert())
	case byShared:
		for t := range k.m.p.n {
			err = errors.Join(err, k.lock(ctx, x, false, t, u.assert()))
		}
	}
	return err
}

func (k *modelRank) ends(ctx context.Context, w int, u *usage) (err error) {
	if k.dies() {
		return nil
	}
	x := k.m.wins[w].all[k.rank]
	switch u.scheme {
	case byFence:
		a := Assert(0)
		if k.round == u.rounds-1 {
			a = NoSucceed
		}
		err = k.patiently(ctx, callCloses, x, 0, func(ctx context.Context) error { return x.Fence(ctx, a) })
	case byPost:
		call, target := callExposes, 0 // with nobody there are no operations
		if group := u.group(k.rank, true); len(group) > 0 {
			call, target = callCloses, group[0]
		}
		err = errors.Join(k.patiently(ctx, call, x, target, x.Complete), k.wait(ctx, x, u.tests))
	case byLockAll:
		err = k.unlock(ctx, x, lockEverywhere)
	case byShared:
		for t := range k.m.p.n {
			err = errors.Join(err, k.unlock(ctx, x, t))
			k.settle(w, t, true)
		}
	}
	k.settle(w, -1, true)
	return err
}

// wait is Wait, or Tests until the epoch has ended.
func (k *modelRank) wait(ctx context.Context, x *Win, tests bool) error {
	for tests {
		if ended, err := x.Test(ctx); ended || err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return k.patiently(ctx, callExposes, x, 0, x.Wait)
}

func (k *modelRank) do(ctx context.Context, it item) (err error) {
	if k.dies() {
		return nil
	}
	x := k.m.wins[it.win].all[k.rank]
	switch it.kind {
	case itemOp:
		return k.call(it)
	case itemFlush:
		err = k.flush(ctx, x, it.target, it.local)
		k.settle(it.win, it.target, !it.local)
	case itemFlushAll:
		err = k.patiently(ctx, callCloses, x, it.target, func(ctx context.Context) error { return x.FlushAll(ctx, it.local) })
		k.settle(it.win, -1, !it.local)
	case itemSync:
		err = x.Sync()
	case itemSession:
		target := it.target
		if it.targets == nil {
			target = lockEverywhere
		}
		if err = k.lock(ctx, x, it.exclusive, target, 0); err != nil {
			return err
		}
		for _, inner := range it.items {
			err = errors.Join(err, k.do(ctx, inner))
		}
		err = errors.Join(err, k.unlock(ctx, x, target))
		k.settle(it.win, it.target, true)
	case itemCount, itemPeek:
		err = k.count(ctx, x, it)
	}
	return err
}

// count counts a block up, or sees that nobody does meanwhile.
func (k *modelRank) count(ctx context.Context, x *Win, it item) error {
	w := k.m.wins[it.win]
	var v [2][8]byte
	at := w.at(it.target, it.block.at)
	for i := range v {
		if err := x.Do(&Transfer{Old: v[i][:], Target: it.target, At: at}); err != nil {
			return err
		}
		if err := k.flush(ctx, x, it.target, i == 0); err != nil {
			return err
		}
	}
	if v[0] != v[1] {
		return fmt.Errorf("a counter of rank %d was % x, and % x later, in one epoch with a lock", it.target, v[0], v[1])
	}
	if it.kind == itemPeek {
		return nil
	}
	n, _ := w.counts.LoadOrStore(it.block, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	next := binary.NativeEndian.AppendUint64(nil, binary.NativeEndian.Uint64(v[0][:])+1)
	return x.Do(&Transfer{Src: next, Target: it.target, At: at})
}
