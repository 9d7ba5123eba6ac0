package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// vectorReduction is a reduction of vectors of one length by an operator of the program's.
type vectorReduction[O interface {
	*mpi.Op | *mpi.OpOf[int]
}] struct {
	call  func(c *mpi.Comm, o O, in, out []int) error
	later func(c *mpi.Comm, o O, in, out []int) (mpi.Request, error)
}

// reductions are all calls that combine.
func reductions(size int) map[string]vectorReduction[*mpi.OpOf[int]] {
	type of = *mpi.OpOf[int]
	type r = vectorReduction[of]
	type q = mpi.Request
	counts := func(in []int) []int { return slices.Repeat([]int{len(in) / size}, size) }
	return map[string]r{
		"Reduce": {func(c *mpi.Comm, o of, in, out []int) error { return mpi.Reduce(c, o, in, out, 0) },
			func(c *mpi.Comm, o of, in, out []int) (q, error) { return mpi.Ireduce(c, o, in, out, 0) }},
		"Allreduce":          {mpi.Allreduce[int, of], mpi.Iallreduce[int, of]},
		"Scan":               {mpi.Scan[int, of], mpi.Iscan[int, of]},
		"Exscan":             {mpi.Exscan[int, of], mpi.Iexscan[int, of]},
		"ReduceScatterBlock": {mpi.ReduceScatterBlock[int, of], mpi.IreduceScatterBlock[int, of]},
		"ReduceScatter": {func(c *mpi.Comm, o of, in, out []int) error { return mpi.ReduceScatter(c, o, in, out, counts(in)) },
			func(c *mpi.Comm, o of, in, out []int) (q, error) {
				return mpi.IreduceScatter(c, o, in, out, counts(in))
			}},
		"Bufs": {func(c *mpi.Comm, o of, in, out []int) error { return c.Allreduce(o, mpi.Of(in), mpi.Of(out)) },
			func(c *mpi.Comm, o of, in, out []int) (q, error) { return c.Iallreduce(o, mpi.Of(in), mpi.Of(out)) }},
	}
}

// An operator that panics at one rank fails the call there, and there or at their next call
// the ranks that are told. None hangs, and other communicators go on.
func TestAnOperatorThatPanicsAtOneRankIsToldToAll(t *testing.T) {
	const size = 4
	failure := errors.New("no such sum")
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, size, func(_ *mpi.World, c *mpi.Comm) {
			for name, x := range ordered(reductions(size)) {
				for _, n := range []int{size, 3000 * size} {
					for bad := range 2 * size { // the rank, and whether the call is nonblocking
						d := get(c.Dup())
						ran := false
						o := mpi.NewOp(func(a, b int) int {
							if c.Rank() == bad/2 {
								ran = true
								panic(failure)
							}
							return a + b
						})
						in, out := make([]int, n), make([]int, n)
						var err error
						if bad%2 == 1 {
							err = wait(x.later(d, o, in, out))
						} else {
							err = x.call(d, o, in, out)
						}
						here := c.Rank() == bad/2
						var mine *mpi.OperatorError
						var told *mpi.CallError
						switch what := fmt.Sprintf("%s of %d, operator of rank %d, nonblocking %t: rank %d gets %v", name, n, bad/2, bad%2 == 1, c.Rank(), err); {
						case here && ran && (!errors.Is(err, mpi.ErrOp) || !errors.As(err, &mine) || mine.Value != failure):
							t.Error(what)
						case (!here || !ran) && err != nil && (!errors.Is(err, mpi.ErrOp) || !errors.As(err, &told) || told.Rank != bad/2 || told.World != bad/2 || strings.Count(err.Error(), "has failed in") > 1 || !strings.Contains(err.Error(), "no such sum")):
							t.Error(what)
						}
						any := []bool{ran}
						ok(mpi.Bcast(c, any, bad/2))
						next := mpi.Allreduce(d, mpi.Sum, []int{1}, []int{0})
						if any[0] != (next != nil) || next != nil && !errors.Is(next, mpi.ErrOp) {
							t.Errorf("%s, operator of rank %d: the next call of rank %d: %v", name, bad/2, c.Rank(), next)
						}
						ok(d.Free())
					}
				}
			}
		})
	})
}

// A rank that hears of another's panic while its own operator runs fails too, though it has
// its result.
func TestARankThatIsToldOfAPanicInItsOperatorFails(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, nonblocking := range []bool{false, true} {
			act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
				d := get(c.Dup())
				o := mpi.NewOp(func(a, b int) int {
					if c.Rank() == 0 {
						panic("no more")
					}
					get(mpi.Recv(c, make([]byte, 1), 0, 1)) // sent when the other rank has failed
					return a + b
				})
				var err error
				if nonblocking {
					err = wait(mpi.Iallreduce(d, o, []int{1}, []int{0}))
				} else {
					err = mpi.Allreduce(d, o, []int{1}, []int{0})
				}
				if c.Rank() == 0 {
					ok(mpi.Send(c, none, 1, 1))
				}
				wantWords(t, fmt.Sprintf("nonblocking %t, rank %d", nonblocking, c.Rank()), err, mpi.ErrOp, "no more")
				ok(d.Free())
			})
		}
	})
}
