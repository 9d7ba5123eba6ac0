package mpi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// restart makes a persistent call, and has it start once.
func restart(r mpi.Request, err error) error {
	if err != nil {
		return err
	}
	ok(r.Start())
	return errors.Join(second(r.Wait()), r.Free())
}

// standing is a persistent call. A start with a rank's elements from at on in in is to
// have want in out.
type standing struct {
	mpi.Request
	name    string
	in, out []word
	want    func(at int) []word
}

// standingCalls makes ten of them. Elements are added.
func standingCalls(x *trial[word]) (all []*standing) {
	c, n, p, me := x.c, x.n, x.c.Size(), x.c.Rank()
	add := func(name string, in, out int, want func(at int) []word, init func(in, out []word) (mpi.Request, error)) {
		s := &standing{name: name, in: make([]word, in), out: make([]word, out), want: want}
		s.Request = get(init(s.in, s.out))
		all = append(all, s)
	}
	nothing := func(int) []word { return nil }
	sum := func(at int) []word { return x.folded(p-1, at, n) }
	rows := func(first, n int) func(at int) []word {
		return func(at int) (v []word) {
			for r := range p {
				v = append(v, x.vector(r, at+first, n)...)
			}
			return v
		}
	}
	at := func(root, n int) int { return n * btoi(me == root) }
	only := func(root int, want func(at int) []word) func(at int) []word {
		if me == root {
			return want
		}
		return nothing
	}
	add("Barrier", 0, 0, nothing, func(_, _ []word) (mpi.Request, error) { return c.BarrierInit() })
	for range 2 { // which only their numbers tell apart
		add("Allreduce", n, n, sum, func(in, out []word) (mpi.Request, error) { return mpi.AllreduceInit(c, mpi.Sum, in, out) })
	}
	add("Bcast", at(1, n), n-at(1, n), func(at int) []word { return x.vector(1, at, n)[:n-len(all[3].in)] }, func(in, out []word) (mpi.Request, error) {
		if me == 1 {
			out = in
		}
		return mpi.BcastInit(c, out, 1)
	})
	add("Reduce", n, at(2, n), only(2, sum), func(in, out []word) (mpi.Request, error) { return mpi.ReduceInit(c, mpi.Sum, in, out, 2) })
	add("Scan", n, n, func(at int) []word { return x.folded(me, at, n) }, func(in, out []word) (mpi.Request, error) { return mpi.ScanInit(c, x.op, in, out) })
	add("Allgather", n, p*n, rows(0, n), func(in, out []word) (mpi.Request, error) { return mpi.AllgatherInit(c, in, out) })
	add("Alltoall", p*900*n, p*900*n, rows(me*900*n, 900*n), func(in, out []word) (mpi.Request, error) { return mpi.AlltoallInit(c, in, out) })
	add("Gather", n, at(3, p*n), only(3, rows(0, n)), func(in, out []word) (mpi.Request, error) { return c.GatherInit(mpi.Of(in), mpi.Of(out), 3) })
	add("ReduceScatterBlock", p*n, n, func(at int) []word { return x.folded(p-1, at+me*n, n) },
		func(in, out []word) (mpi.Request, error) {
			return c.ReduceScatterBlockInit(mpi.Sum, mpi.Of(in), mpi.Of(out))
		})
	return all
}

// Ranks start ten persistent calls and two persistent messages again and again, each rank in
// orders of its own, and make other calls meanwhile.
func TestPersistentCallsStartInAnyOrder(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		rounds := 1000
		if fabric != "mem" && fabric != "shm" || opts != nil || raceEnabled {
			rounds = 100
		}
		const p, n = 4, 3
		act(t, fabric, p, func(_ *mpi.World, c *mpi.Comm) {
			me := c.Rank()
			add := func(a, b word) word { return a + b }
			x := &trial[word]{c: c, n: n, fold: add, op: (*mpi.Op)(mpi.NewOp(add)), element: func(r, i int) word { return word(8*i + r) }}
			calls := standingCalls(x)
			out, in := make([]word, n), make([]word, n)
			rs := []mpi.Request{get(mpi.SendInit(c, out, (me+1)%p, 1)), get(mpi.RecvInit(c, in, (me+p-1)%p, 1))}
			for _, s := range calls {
				rs = append(rs, s.Request)
			}
			mine, alike := rand.New(rand.NewPCG(1, uint64(me))), rand.New(rand.NewPCG(1, p))
			shuffle := func() { mine.Shuffle(len(rs), func(i, j int) { rs[i], rs[j] = rs[j], rs[i] }) }
			for round := range rounds {
				at := func(i int) int { return (round*16 + i) << 16 }
				for i, s := range calls {
					copy(s.in, x.vector(me, at(i), len(s.in)))
				}
				copy(out, x.vector(me, at(10), n))
				shuffle()
				cut := mine.IntN(len(rs) + 1)
				ok(mpi.Startall(rs[:cut]))
				later, now := []word{0}, []word{0}
				other := get(mpi.Iallreduce(c, mpi.Sum, x.vector(me, at(11), 1), later))
				if alike.IntN(4) == 0 {
					if ok(mpi.Allreduce(c, mpi.Sum, x.vector(me, at(12), 1), now)); now[0] != x.folded(p-1, at(12), 1)[0] {
						stop(fmt.Errorf("round %d: Allreduce gives %d", round, now))
					}
				}
				ok(mpi.Startall(rs[cut:]))
				shuffle()
				if mine.IntN(2) == 0 {
					ok(mpi.Waitall(rs, nil))
				} else {
					for i := range rs {
						get(rs[i].Wait())
					}
				}
				get(other.Wait())
				if later[0] != x.folded(p-1, at(11), 1)[0] || !slices.Equal(in, x.vector((me+p-1)%p, at(10), n)) {
					stop(fmt.Errorf("round %d: Iallreduce gives %d, the message is %d", round, later, in))
				}
				for i, s := range calls {
					if !slices.Equal(s.out, s.want(at(i))) {
						stop(fmt.Errorf("round %d, %s: rank %d has %d, want %d", round, s.name, me, s.out, s.want(at(i))))
					}
				}
				x.made = nil
			}
			for i := range rs {
				ok(rs[i].Free())
			}
		}, opts...)
	})
}

// The allocations of both ranks count.
func TestStartsOfShortPersistentCallsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	rounds := allocRounds()
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, _ *mpi.Comm) error {
			c := w.Comm() // without a context, which a wait for several messages would list
			in, out, all := make([]int64, 4), make([]int64, 4), make([]int64, 8)
			for name, r := range ordered(map[string]mpi.Request{
				"Barrier":   *begin(c.BarrierInit()),
				"Allreduce": *begin(mpi.AllreduceInit(c, mpi.Sum, in, out)),
				"Allgather": *begin(mpi.AllgatherInit(c, in, all)),
				"Alltoall":  *begin(mpi.AlltoallInit(c, in, out)),
			}) {
				if err := steady(t, c, name, rounds, func() error { return errors.Join(r.Start(), second(r.Wait())) }); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
