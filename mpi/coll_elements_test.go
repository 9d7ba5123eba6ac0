package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// sliceCalls are all collective calls with slices, in blocks of n elements, from or to
// rank 0 where there is a root: the blocking form, and the nonblocking one.
func sliceCalls[T int32 | float64](c *mpi.Comm, n int) map[string][2]func() error {
	p := c.Size()
	one, all, out := make([]T, n), make([]T, n*p), make([]T, n*p)
	each := slices.Repeat([]int{n}, p)
	later := func(f func() (mpi.Request, error)) func() error { return func() error { return wait(f()) } }
	type request = mpi.Request
	return map[string][2]func() error{
		"Bcast": {func() error { return mpi.Bcast(c, one, 0) }, later(func() (request, error) { return mpi.Ibcast(c, one, 0) })},
		"Gather": {func() error { return mpi.Gather(c, one, out, 0) },
			later(func() (request, error) { return mpi.Igather(c, one, out, 0) })},
		"Gatherv": {func() error { return mpi.Gatherv(c, one, out, each, nil, 0) },
			later(func() (request, error) { return mpi.Igatherv(c, one, out, each, nil, 0) })},
		"Scatter": {func() error { return mpi.Scatter(c, all, one, 0) },
			later(func() (request, error) { return mpi.Iscatter(c, all, one, 0) })},
		"Scatterv": {func() error { return mpi.Scatterv(c, all, one, each, nil, 0) },
			later(func() (request, error) { return mpi.Iscatterv(c, all, one, each, nil, 0) })},
		"Allgather": {func() error { return mpi.Allgather(c, one, out) },
			later(func() (request, error) { return mpi.Iallgather(c, one, out) })},
		"Allgatherv": {func() error { return mpi.Allgatherv(c, one, out, each, nil) },
			later(func() (request, error) { return mpi.Iallgatherv(c, one, out, each, nil) })},
		"Alltoall": {func() error { return mpi.Alltoall(c, all, out) },
			later(func() (request, error) { return mpi.Ialltoall(c, all, out) })},
		"Alltoallv": {func() error { return mpi.Alltoallv(c, all, each, nil, out, each, nil) },
			later(func() (request, error) { return mpi.Ialltoallv(c, all, each, nil, out, each, nil) })},
		"Reduce": {func() error { return mpi.Reduce(c, mpi.Max, one, out, 0) },
			later(func() (request, error) { return mpi.Ireduce(c, mpi.Max, one, out, 0) })},
		"Allreduce": {func() error { return mpi.Allreduce(c, mpi.Max, one, out) },
			later(func() (request, error) { return mpi.Iallreduce(c, mpi.Max, one, out) })},
		"ReduceScatterBlock": {func() error { return mpi.ReduceScatterBlock(c, mpi.Max, all, out) },
			later(func() (request, error) { return mpi.IreduceScatterBlock(c, mpi.Max, all, out) })},
		"ReduceScatter": {func() error { return mpi.ReduceScatter(c, mpi.Max, all, out, each) },
			later(func() (request, error) { return mpi.IreduceScatter(c, mpi.Max, all, out, each) })},
		"Scan": {func() error { return mpi.Scan(c, mpi.Max, one, out) }, later(func() (request, error) { return mpi.Iscan(c, mpi.Max, one, out) })},
		"Exscan": {func() error { return mpi.Exscan(c, mpi.Max, one, out) },
			later(func() (request, error) { return mpi.Iexscan(c, mpi.Max, one, out) })},
	}
}

// With checks of either kind no call takes elements of one type for those of another that
// have as many bytes, at whichever rank they are.
func TestChecksCompareTheElementsOfEveryCall(t *testing.T) {
	for _, by := range []struct {
		check mpi.Option
		class mpi.Class
	}{{mpi.WithChecks(), mpi.ErrNotSame}, {mpi.WithTypeChecks(), mpi.ErrType}} {
		act(t, "mem", 3, func(_ *mpi.World, c *mpi.Comm) {
			for name := range ordered(sliceCalls[int32](c, 2)) {
				for form := range 2 {
					for odd := range 4 { // 3: none is
						d := get(c.Dup())
						calls := sliceCalls[int32](d, 2)
						if c.Rank() == odd {
							calls = sliceCalls[float64](d, 1)
						}
						err := calls[name][form]()
						switch text := fmt.Sprint(err); {
						case odd == 3 && err == nil:
						case odd == 3 || !errors.Is(err, by.class) || !strings.Contains(text, "int32") || !strings.Contains(text, "float64"):
							t.Errorf("%s, form %d, with another type at rank %d: rank %d gets %v", name, form, odd, c.Rank(), err)
						}
						ok(d.Free())
					}
				}
			}
		}, by.check)
	}
}

// Elements that go with each other stay so: ranks that have none may have them of any type,
// Bufs of several kinds are what they are, and pairs of ranks may differ in what they exchange.
func TestChecksOfElementsLetRightCallsPass(t *testing.T) {
	act(t, "mem", 3, func(_ *mpi.World, c *mpi.Comm) {
		me := c.Rank()
		counts := []int{2, 2, 0}
		if me == 2 {
			ok(mpi.Gatherv[float64](c, nil, nil, nil, nil, 0))
			ok(mpi.Bcast(c, make([]int64, 2), 0))
		} else {
			ok(mpi.Gatherv(c, make([]int32, 2), make([]int32, 4), counts, nil, 0))
			ok(c.Bcast(mpi.Of(make([]int, 2)), 0))
		}
		type pair struct {
			A int32
			B float32
		}
		ok(c.Bcast(mpi.OfStructs(make([]pair, 2)), 0))
		if me == 2 { // it exchanges float64s with itself, the others int32s with each other
			ok(mpi.Alltoallv(c, make([]float64, 1), []int{0, 0, 1}, nil, make([]float64, 1), []int{0, 0, 1}, nil))
		} else {
			ok(mpi.Alltoallv(c, make([]int32, 4), counts, nil, make([]int32, 4), counts, nil))
		}
		each := []mpi.Buf{mpi.Of([]int32{1}), mpi.Of([]int32{1}), mpi.Of([]int32{1})}
		into := slices.Clone(each)
		for peer := range each { // ranks whose sum is odd exchange float64s
			into[peer] = mpi.Of([]int32{0})
			if (peer+me)%2 == 1 {
				each[peer], into[peer] = mpi.Of([]float64{1}), mpi.Of([]float64{0})
			}
		}
		ok(c.Alltoallw(each, into))
	}, mpi.WithChecks())
}
