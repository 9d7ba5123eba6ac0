package rma

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	ops "github.com/weft-mpi/weft/internal/op"
)

// use is how the ranks treat the elements of a cell.
type use int

const (
	folds     use = iota // the operator's result does not depend on the order
	exchanges            // Replace, always with the old elements
	stored               // Replace, never with them
	tickets              // Sum of 1, always with them
	steps                // compare-and-swap
)

// cell is three elements that are next to each other in every part.
type cell struct {
	use  use
	code ops.Code
	kind ops.Kind
	at   int
}

const elementsOfACell = 3

// cells are all operators with all kinds they have, each cell twice: aligned, and not.
func cells() (all []cell, bytes int) {
	add := func(u use, c ops.Code, k ops.Kind) {
		for shift := range 2 {
			if shift > 0 && (raceEnabled || k.Size() == 1) {
				continue
			}
			bytes = (bytes+k.Size()-1)/k.Size()*k.Size() + shift
			all = append(all, cell{u, c, k, bytes})
			bytes += elementsOfACell * k.Size()
		}
	}
	for k := ops.Bool; k <= ops.Complex128; k++ {
		for c := ops.CodeSum; c <= ops.CodeBXor; c++ {
			if _, err := c.Op().OnWindow(k); err == nil {
				add(folds, c, k)
			}
		}
		add(exchanges, ops.CodeReplace, k)
		add(stored, ops.CodeReplace, k)
		if _, err := ops.Sum.OnWindow(k); err == nil && k < ops.Float32 {
			add(tickets, ops.CodeSum, k)
		}
		if comparesBits(k) == nil {
			add(steps, ops.CodeReplace, k)
		}
	}
	return all, bytes
}

// first draws what an element is before a round.
func (c *cell) first(r *rand.Rand) []byte {
	switch {
	case c.use != folds:
		return randomElements(r, c.kind, 1)
	case c.code >= ops.CodeLAnd && c.code <= ops.CodeLXor, c.kind == ops.Bool:
		return element(c.kind, r.IntN(2))
	case c.code == ops.CodeProd:
		return element(c.kind, 1)
	case c.code >= ops.CodeBAnd:
		return randomElements(r, c.kind, 1)
	}
	return element(c.kind, r.IntN(7)-3)
}

// operand draws one so that results are exact, and neither zero nor full too soon.
func (c *cell) operand(r *rand.Rand) []byte {
	bit := uint64(1) << r.IntN(8*c.kind.Size())
	e := alignedBytes(c.kind.Size())
	switch {
	case c.use == tickets:
		return element(c.kind, 1)
	case c.use != folds:
		return randomElements(r, c.kind, 1)
	case c.code == ops.CodeLAnd, c.kind == ops.Bool && c.code == ops.CodeBAnd:
		return element(c.kind, min(1, r.IntN(50)))
	case c.code == ops.CodeLOr, c.kind == ops.Bool && c.code == ops.CodeBOr:
		return element(c.kind, r.IntN(50)/49)
	case c.code == ops.CodeLXor, c.kind == ops.Bool:
		return element(c.kind, r.IntN(2))
	case c.code == ops.CodeBAnd:
		setBits(e, ^bit)
	case c.code == ops.CodeBOr:
		setBits(e, bit)
	case c.code == ops.CodeMax, c.code == ops.CodeMin:
		return element(c.kind, r.IntN(255)-127)
	case c.kind < ops.Float32 && c.code == ops.CodeProd:
		setBits(e, r.Uint64()|1)
	case c.kind < ops.Float32:
		setBits(e, r.Uint64())
	case c.code == ops.CodeProd: // a power of two, turned by a right angle if it is complex
		to, part := e, c.kind.Size()
		if c.kind >= ops.Complex64 {
			part /= 2
			to = e[r.IntN(2)*part:]
		}
		setFloat(to[:part], []float64{1, -1, 2, -2, 0.5, -0.5}[r.IntN(6)])
	default:
		return element(c.kind, r.IntN(7)-3)
	}
	return e
}

// call is an accumulate that was called, on count elements.
type call struct {
	x           Transfer
	c           *cell
	from, count int
}

// caller is a goroutine of a rank.
type caller struct {
	w     *Win
	r     *rand.Rand
	calls []call
	seen  map[*byte][]byte // what it has found last, by the element's first byte
}

// draw draws an accumulate on a cell.
func (g *caller) draw(c *cell, mem [][]byte) call {
	size := c.kind.Size()
	a := call{c: c, from: g.r.IntN(elementsOfACell), count: 1}
	a.x = Transfer{Code: c.code, Kind: c.kind, Target: g.r.IntN(len(mem)), At: c.at + a.from*size}
	if c.use != steps && g.r.IntN(3) == 0 {
		a.count += g.r.IntN(elementsOfACell - a.from)
	}
	if g.r.IntN(8) == 0 {
		a.x.Code = ops.CodeNoOp
	}
	if a.x.Code != ops.CodeNoOp || g.r.IntN(2) == 0 {
		for range a.count {
			a.x.Src = append(a.x.Src, c.operand(g.r)...)
		}
	}
	if c.use == steps && a.x.Code != ops.CodeNoOp {
		if a.x.Compare = g.seen[&mem[a.x.Target][a.x.At]]; a.x.Compare == nil {
			a.x.Compare = c.operand(g.r)
		}
	}
	if old := g.r.IntN(2) == 0; a.x.Code == ops.CodeNoOp || c.use > stored || c.use == exchanges || c.use == folds && old {
		a.x.Old = make([]byte, a.count*size)
	}
	return a
}

// goOn calls n accumulates on cells.
func (g *caller) goOn(ctx context.Context, n int, of []*cell, mem [][]byte) (err error) {
	for done := 0; len(g.calls) < n; {
		a := g.draw(of[g.r.IntN(len(of))], mem)
		if err = g.w.Do(&a.x); err != nil {
			return err
		}
		g.calls = append(g.calls, a)
		if last := len(g.calls) == n; last || g.r.IntN(12) == 0 {
			if err = g.w.FlushAll(ctx, !last && g.r.IntN(2) == 0); err != nil {
				return err
			}
			for _, a := range g.calls[done:] {
				if a.c.use == steps {
					g.seen[&mem[a.x.Target][a.x.At]] = a.x.Old
				}
			}
			done = len(g.calls)
		}
	}
	return nil
}

// part is what one of the elements of a call had for operand, and what it found.
func (a *call) part(i int) (operand, old []byte) {
	size := a.c.kind.Size()
	at := (i - a.from) * size
	if a.x.Src != nil && a.x.Code != ops.CodeNoOp {
		operand = a.x.Src[at : at+size]
	}
	if a.x.Old != nil {
		old = a.x.Old[at : at+size]
	}
	return operand, old
}

// explain checks an element of a cell: what it was, what it is, and the calls of each
// goroutine on it, in order.
func (c *cell) explain(first, last []byte, i int, calls [][]*call) error {
	if c.use == folds {
		return c.fold(first, last, i, calls)
	}
	// What the element has been is there as often as it has been stored.
	been := map[string]int{string(first): 1}
	var ends []string // the last value of each goroutine
	for _, mine := range calls {
		end := ""
		for _, a := range mine {
			operand, old := a.part(i)
			switch {
			case operand == nil, c.use == steps && string(old) != string(a.x.Compare):
				continue
			case c.use == tickets:
				operand = append([]byte{}, old...)
				naive(c.code, c.kind, operand, element(c.kind, 1))
			}
			end = string(operand)
			been[end]++
		}
		if end != "" {
			ends = append(ends, end)
		}
	}
	for _, mine := range calls {
		for _, a := range mine {
			operand, old := a.part(i)
			_, known := been[string(old)]
			switch {
			case old != nil && !known:
				return fmt.Errorf("a call has found % x, which it has never been", old)
			case operand != nil && old != nil && (c.use != steps || string(old) == string(a.x.Compare)):
				been[string(old)]--
			}
		}
	}
	for v, n := range been {
		is := 0
		if v == string(last) {
			is = 1
		}
		if c.use != stored && n != is {
			return fmt.Errorf("it was % x once, is % x, and has been % x %d times more often than that was replaced", first, last, v, n)
		}
	}
	if c.use != stored {
		return nil
	}
	for _, end := range ends {
		if end == string(last) {
			return nil
		}
	}
	if len(ends) == 0 && string(first) == string(last) {
		return nil
	}
	return fmt.Errorf("it is % x, which no goroutine has stored at last", last)
}

// fold computes the value one call after the other. For operators that change nothing if
// they are called again, each call has found what its goroutine had brought before, and
// nothing that is not in the end.
func (c *cell) fold(first, last []byte, i int, calls [][]*call) error {
	want := append([]byte{}, first...)
	again := c.code != ops.CodeSum && c.code != ops.CodeProd && c.code != ops.CodeLXor && c.code != ops.CodeBXor
	with := func(a, b []byte) string {
		a = append([]byte{}, a...)
		naive(c.code, c.kind, a, b)
		return string(a)
	}
	for _, mine := range calls {
		own := append([]byte{}, first...)
		for _, a := range mine {
			operand, old := a.part(i)
			if again && old != nil && (with(old, own) != string(old) || with(last, old) != string(last)) {
				return fmt.Errorf("a call has found % x: its goroutine had made it % x before, and it is % x in the end", old, own, last)
			}
			if operand != nil {
				naive(c.code, c.kind, want, operand)
				naive(c.code, c.kind, own, operand)
			}
		}
	}
	if !sameZeros(c.kind, append(alignedBytes(0), last...), want) {
		return fmt.Errorf("it was % x and is % x, want % x", first, last, want)
	}
	return nil
}

// accumulates has the ranks of a job call n accumulates at least, on a few cells at a
// time, by two goroutines of each rank, and checks every element. It returns how many
// they were. next is the next cell.
func accumulates(t *testing.T, m *mesh, n int, seed uint64, of []cell, length int, next *int) (called int) {
	const goroutines, atOnce, each1 = 2, 6, 200
	r := rand.New(rand.NewPCG(seed, 6))
	mem := make([][]byte, m.n)
	for i := range mem {
		mem[i] = alignedBytes(length)
	}
	all, err := m.window(16, mem, 1)
	if err != nil {
		t.Fatal(err)
	}
	for round := 0; called < n && !t.Failed(); round++ {
		var now []*cell
		for range atOnce {
			now = append(now, &of[*next%len(of)])
			*next++
		}
		before := make([][]byte, m.n)
		for i := range mem {
			for _, c := range now {
				for e := range elementsOfACell {
					copy(mem[i][c.at+e*c.kind.Size():], c.first(r))
				}
			}
			before[i] = append([]byte{}, mem[i]...)
		}
		callers := make([]*caller, m.n*goroutines)
		each(t, all, func(ctx context.Context, w *Win) error {
			if err := w.LockAll(ctx, 0); err != nil {
				return err
			}
			var team sync.WaitGroup
			for i := range goroutines {
				k := w.rank*goroutines + i
				g := &caller{w: w, r: rand.New(rand.NewPCG(seed<<20+uint64(round), uint64(k))), seen: map[*byte][]byte{}}
				callers[k] = g
				team.Go(func() {
					if err := g.goOn(ctx, each1, now, mem); err != nil {
						t.Error(err)
					}
				})
			}
			team.Wait()
			return w.UnlockAll(ctx)
		})
		type place struct {
			c         *cell
			target, i int
		}
		history := map[place][][]*call{}
		for k, g := range callers {
			called += len(g.calls)
			for j := range g.calls {
				a := &g.calls[j]
				for i := a.from; i < a.from+a.count; i++ {
					p := place{a.c, a.x.Target, i}
					if history[p] == nil {
						history[p] = make([][]*call, len(callers))
					}
					history[p][k] = append(history[p][k], a)
				}
			}
		}
		for p, calls := range history {
			size := p.c.kind.Size()
			at := p.c.at + p.i*size
			if err := p.c.explain(before[p.target][at:at+size], mem[p.target][at:at+size], p.i, calls); err != nil {
				t.Errorf("round %d, %v of %v at %d of rank %d: %v", round, p.c.code.Op(), p.c.kind, at, p.target, err)
			}
			copy(before[p.target][at:at+size], mem[p.target][at:at+size])
		}
		for i := range mem {
			if string(before[i]) != string(mem[i]) {
				t.Errorf("round %d: bytes of rank %d have changed that no call was about", round, i)
			}
		}
	}
	return called
}

// A million accumulates of all operators and kinds, with and without their results, by
// goroutines of 2 to 4 ranks, over direct memory, over the fabric and in packets to the
// same elements: each sum is exact, each value that was replaced is found once.
func TestAMillionAccumulatesAreExact(t *testing.T) {
	total := 1_000_000
	if testing.Short() || raceEnabled {
		total = 50_000
	}
	of, length := cells()
	rand.New(rand.NewPCG(6, 6)).Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	next, called := 0, 0
	for turn := range int(ways) {
		for n := 2; n <= 4; n++ {
			m, err := newMesh(fmt.Sprint(t.Name(), turn, n), n, []int{64, 32, 1000}[turn], memNetworks(n), func(a, b int) way { return way((a + b + turn) % int(ways)) }, nil)
			if err != nil {
				t.Fatal(err)
			}
			called += accumulates(t, m, (total+8)/9, uint64(10*turn+n), of, length, &next)
			for rank := range n {
				if err := m.idle(rank); err != nil {
					t.Error(err)
				}
			}
			if err := m.close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if next < len(of) || called < total {
		t.Errorf("%d calls on %d of %d cells", called, next, len(of))
	}
	t.Logf("%d accumulates on %d cells", called, len(of))
}
