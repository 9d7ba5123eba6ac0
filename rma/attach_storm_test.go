package rma

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/tcp"
	ops "github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/progress"
)

// plot is memory that its rank attaches and detaches all the time. Attached, it begins
// with a counter, behind which are bytes of operations. The rest is guard.
type plot struct {
	all    []byte // with what is never attached on both sides
	mem    []byte
	length atomic.Int64 // of what is attached, or was
	// version counts the states: not attached, being attached, attached, being
	// detached. Stored by the plot's rank before and after Attach and Detach, loaded by
	// origins before an operation and after it has ended.
	version atomic.Int64

	mu         sync.Mutex
	counted    map[int64]int64 // that the counter has been, by version/4
	sure, more map[int64]int64 // that it has been counted up, certainly, and perhaps
}

const (
	plotsOfARank = 6
	plotBytes    = 320
	margin       = 64 // bytes of guard on each side of a plot
	guard        = 0xA5
)

func newPlot() *plot {
	p := &plot{all: bytes.Repeat([]byte{guard}, plotBytes+2*margin+8), counted: map[int64]int64{}, sure: map[int64]int64{}, more: map[int64]int64{}}
	p.length.Store(plotBytes)
	at := margin + int(-addressOf(p.all)&7)
	p.mem = p.all[at : at+plotBytes]
	return p
}

// toggle attaches the plot, or detaches it and looks what has come of it.
func (p *plot) toggle(w *Win, r *rand.Rand, marks int) error {
	v := p.version.Load()
	if v%4 == 0 {
		if !allGuard(p.all) {
			return errors.New("bytes were written that are not attached")
		}
		n := 8 + r.IntN(plotBytes-8)
		p.length.Store(int64(n))
		p.version.Add(1)
		clear(p.mem[:n])
		if _, err := w.Attach(p.mem[:n]); err != nil {
			return err
		}
		from := r.IntN(n)
		if _, err := w.Attach(p.mem[from : from+1]); !errors.As(err, new(*AttachError)) {
			return fmt.Errorf("memory is attached twice: %v", err)
		}
		p.version.Add(1)
		return nil
	}
	n := int(p.length.Load())
	p.version.Add(1)
	if err := w.Detach(p.mem[:n]); err != nil {
		return err
	}
	if err := w.Detach(p.mem[:n]); !errors.As(err, new(*AttachError)) {
		return fmt.Errorf("memory is detached twice: %v", err)
	}
	count := int64(rawBits(p.mem[:8]))
	for i, b := range p.mem[8:n] {
		if int(b) > marks {
			return fmt.Errorf("byte %d is %#x, which no rank puts", i, b)
		}
	}
	for i := range n {
		p.mem[i] = guard
	}
	p.mu.Lock()
	p.counted[v/4] = count
	p.mu.Unlock()
	p.version.Add(1)
	return nil
}

func allGuard(b []byte) bool {
	for _, c := range b {
		if c != guard {
			return false
		}
	}
	return true
}

// balance checks the counters.
func (p *plot) balance() error {
	for v, got := range p.counted {
		if low := p.sure[v]; got < low || got > low+p.more[v] {
			return fmt.Errorf("it was counted up %d times while it was attached the time number %d, want %d to %d", got, v, low, low+p.more[v])
		}
		delete(p.sure, v)
	}
	if len(p.sure) > 0 {
		return fmt.Errorf("operations have succeeded while it was not attached: %v", p.sure)
	}
	return nil
}

// bolt is an operation on a plot, or beside it.
type bolt struct {
	x      Transfer
	p      *plot
	counts bool
	beside bool // it is on no plot
	over   bool // it is over the end of what was attached in version v
	v      int64
	named  bool
	err    error // of its request
}

// aim draws an operation.
func aim(r *rand.Rand, p *plot, mark byte) *bolt {
	o := &bolt{p: p, v: p.version.Load()}
	base, n := int(addressOf(p.mem)), int(p.length.Load())
	o.x.At = base
	switch r.IntN(4) {
	case 0:
		o.counts = true
		o.x.Code, o.x.Kind, o.x.Src = ops.CodeSum, ops.Uint64, element(ops.Uint64, 1)
		if r.IntN(2) == 0 {
			o.x.Old = make([]byte, 8)
		}
		return o
	case 1: // swaps nothing
		o.x.Code, o.x.Kind, o.x.Compare, o.x.Src, o.x.Old = ops.CodeReplace, ops.Uint64, element(ops.Uint64, -1), element(ops.Uint64, 7), make([]byte, 8)
		return o
	}
	from := 8 + r.IntN(max(1, n-8))
	o.x.At += from
	long := 1 + r.IntN(max(1, n-from))
	switch r.IntN(8) {
	case 0: // over the end
		long = n - from + 1 + r.IntN(margin)
	case 1:
		o.x.At, o.beside = base-1-r.IntN(margin-1), true
	case 2:
		o.x.At, o.beside = []int{0, 8, math.MaxInt, math.MaxInt - 100, base + 1<<40}[r.IntN(5)], true
	}
	if o.over = from+long > n; r.IntN(2) == 0 {
		o.x.Src = bytes.Repeat([]byte{mark}, long)
	} else {
		o.x.Old = bytes.Repeat([]byte{guard}, long)
	}
	return o
}

// leaves calls f for each error that err is made of.
func leaves(err error, f func(error)) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			leaves(e, f)
		}
	} else if err != nil {
		f(err)
	}
}

// strike begins a few operations with a target and ends them, in any way.
func (s *settled) strike(ctx context.Context, w *Win, r *rand.Rand, target int, plots []*plot) error {
	var all []*bolt
	var handles []progress.Handle
	for range 1 + r.IntN(3) {
		o := aim(r, plots[r.IntN(len(plots))], byte(w.rank+1))
		o.x.Target = target
		if o.named = r.IntN(3) == 0; o.named {
			h, err := w.Begin(&o.x)
			if err != nil {
				return err
			}
			handles = append(handles, h)
		} else if err := w.Do(&o.x); err != nil {
			return err
		}
		all = append(all, o)
	}
	i := 0
	for _, o := range all {
		if o.named {
			_, o.err = progress.WaitResult(&handles[i])
			i++
		}
	}
	var ended error
	if r.IntN(4) == 0 {
		short, cancel := context.WithCancel(ctx)
		cancel()
		leaves(w.Flush(short, target, false), func(e error) {
			if !errors.Is(e, context.Canceled) {
				ended = errors.Join(ended, e)
			}
		})
	}
	switch r.IntN(4) {
	case 0:
		ended = errors.Join(ended, w.FlushAll(ctx, false))
	case 1:
		ended = errors.Join(ended, w.UnlockAll(ctx))
		if err := w.LockAll(ctx, 0); err != nil {
			return err
		}
	default:
		if r.IntN(2) == 0 { // what it leaves is for the one behind it
			ended = errors.Join(ended, w.Flush(ctx, target, true))
		}
		ended = errors.Join(ended, w.Flush(ctx, target, false))
	}
	return s.settle(all, target, ended)
}

// settled counts operations that must have succeeded, that must have been refused, and
// others.
type settled struct{ good, bad, other atomic.Int64 }

// settle compares errors with what the plots have been.
func (s *settled) settle(all []*bolt, target int, ended error) error {
	wrong := func(o *bolt, now int64) error {
		return fmt.Errorf("%+v, beside or over %v, versions %d to %d: %v, and %v from its request", o.x, o.beside || o.over, o.v, now, ended, o.err)
	}
	must := false
	for _, o := range all {
		now := o.p.version.Load()
		same, own := now == o.v, o.err
		bad := o.beside || same && (now%4 == 0 || o.over)
		good := !bad && same && now%4 == 2
		// A Put tells its failure by the call that ends it, also one with a request.
		switch {
		case good:
			s.good.Add(1)
		case bad:
			s.bad.Add(1)
		default:
			s.other.Add(1)
		}
		replied := o.x.Old != nil && o.named
		if replied && (bad && own == nil || good && own != nil) || o.named && !replied && own != nil {
			return wrong(o, now)
		}
		must = must || bad && !replied
		if !replied {
			own = ended
		}
		if o.counts && !bad {
			o.p.mu.Lock()
			switch {
			case good:
				o.p.sure[now/4]++
			default:
				for v := o.v / 4; v <= now/4; v++ {
					o.p.more[v]++
				}
			}
			o.p.mu.Unlock()
		}
		if own == nil && o.x.Kind == 0 && o.x.Old != nil && bytes.IndexByte(o.x.Old, guard) >= 0 {
			return fmt.Errorf("a Get has succeeded and got what is not attached: %w", wrong(o, now))
		}
		// Nothing else fails, so an operation that can't have been refused was not.
		if own != nil && good && len(all) == 1 {
			return wrong(o, now)
		}
	}
	if must && ended == nil {
		return wrong(all[0], -1)
	}
	var odd error
	for _, e := range append([]error{ended}, func() (own []error) {
		for _, o := range all {
			own = append(own, o.err)
		}
		return own
	}()...) {
		leaves(e, func(e error) {
			var of *RangeError
			named := errors.As(e, &of) && of.Rank == target
			if named {
				named = false
				for _, o := range all {
					named = named || of.Addr-uint64(o.x.At) < uint64(o.x.bytes())
				}
			}
			if !named {
				odd = fmt.Errorf("%w names none of the operations", e)
			}
		})
	}
	return odd
}

// storm has each rank attach and detach its plots while all use them.
func storm(t *testing.T, g *mesh, strokes int) {
	all, err := g.window(16, nil, Dynamic)
	if err != nil {
		t.Fatal(err)
	}
	plots := make([][]*plot, g.n)
	for rank := range plots {
		for range plotsOfARank {
			plots[rank] = append(plots[rank], newPlot())
		}
	}
	var busy, struck atomic.Int64
	var s settled
	busy.Store(int64(g.n))
	each(t, all, func(ctx context.Context, w *Win) error {
		owner := make(chan error, 1)
		var toggled, wanted atomic.Int64 // how often the owner has, and is to have at least
		go func() {
			defer toggled.Store(math.MaxInt64)
			r := rand.New(rand.NewPCG(uint64(w.rank), 1))
			for busy.Load() > 0 {
				if err := plots[w.rank][r.IntN(plotsOfARank)].toggle(w, r, g.n); err != nil {
					owner <- err
					return
				}
				toggled.Add(1)
				for until := struck.Load() + r.Int64N(6); struck.Load() < until && toggled.Load() >= wanted.Load() && busy.Load() > 0; {
					runtime.Gosched()
				}
			}
			owner <- nil
		}()
		r := rand.New(rand.NewPCG(uint64(w.rank), 2))
		err := w.LockAll(ctx, 0)
		for i := 0; i < strokes && err == nil; i++ {
			target := r.IntN(g.n)
			err = s.strike(ctx, w, r, target, plots[target])
			struck.Add(1)
			wanted.Store(int64(i / 8)) // neither leaves the other behind
			for toggled.Load() < wanted.Load() {
				runtime.Gosched()
			}
		}
		busy.Add(-1)
		return errors.Join(err, <-owner, w.UnlockAll(ctx))
	})
	for rank, of := range plots {
		for i, p := range of {
			if v := p.version.Load(); v%4 == 2 && !t.Failed() {
				if err := p.toggle(all[rank], rand.New(rand.NewPCG(1, 1)), g.n); err != nil {
					t.Error(err)
				}
			}
			if err := p.balance(); err != nil && !t.Failed() {
				t.Errorf("plot %d of rank %d: %v", i, rank, err)
			}
		}
	}
	for a, l := range g.loops {
		if err := g.idle(a); err != nil {
			t.Error(err)
		}
		for b := range g.loops {
			l.Exclusive(func() {
				if a == b {
					return
				}
				if err := l.Conn(fabric.Peer(b)).Down(); err != nil {
					t.Errorf("the connection of %d and %d has ended: %v", a, b, err)
				}
			})
		}
	}
	if s.good.Load() == 0 || s.bad.Load() == 0 {
		t.Error("the plots were not in both states")
	}
	t.Logf("%d operations must have succeeded, %d must have been refused, of %d nobody knows", s.good.Load(), s.bad.Load(), s.other.Load())
}

// Ranks attach and detach memory while others use it by addresses that may be stale, or
// were never right. What is not attached is refused in words by the call that ends the
// operation, and by no other; no byte of it is written, and the connections stay.
func TestAStormOfAttachAndDetach(t *testing.T) {
	strokes := 800
	if testing.Short() || raceEnabled {
		strokes = 200
	}
	for n := 1; n <= 3; n++ {
		onTransports(t, n, []int{0, 64, 1000, 64}[n], func(t *testing.T, g *mesh) { storm(t, g, strokes) })
	}
}

// onTransports runs a test with n ranks on each transport that every machine has.
func onTransports(t *testing.T, n, eager int, f func(t *testing.T, g *mesh)) {
	for name, of := range map[string]func(way) fabric.Provider{
		"mem": memNetworks(n),
		"shm": func(way) fabric.Provider { return shm.Provider{} },
		"tcp": func(way) fabric.Provider { return tcp.Provider{} },
	} {
		t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
			if err := of(reached).Available(); err != nil {
				t.Fatal(err)
			}
			g, err := newMesh(fmt.Sprintf("%d %s ", os.Getpid(), t.Name()), n, eager, of, func(a, b int) way { return way((a + b) % int(ways)) }, nil)
			if err != nil {
				t.Fatal(err)
			}
			f(t, g)
			if err := g.close(); err != nil {
				t.Error(err)
			}
		})
	}
}
