package mpi_test

import (
	"errors"
	"math"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// Calls that can't be carried out are refused with words, and change nothing.
func TestBadOperationsWithTypesAreAnsweredWithTheirClass(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			me, other := c.Rank(), 1-c.Rank()
			typed := func(d *mpi.Datatype, err error) *mpi.Datatype {
				ok(errors.Join(err, d.Commit()))
				return d
			}
			w := get(mpi.WinAllocate[int64](c, 4, mpi.WinOptions{}))
			for i := range w.Local() {
				w.Local()[i] = int64(i)
			}
			ok(c.Barrier())
			int64s := mpi.TypeInt64
			vector := typed(mpi.TypeVector(2, 1, 2, int64s)) // elements 0 and 2
			back := typed(mpi.TypeHindexed([]int{1, 1}, []int{-16, 0}, int64s))
			twice := typed(mpi.TypeHindexed([]int{1, 1}, []int{4, 0}, int64s))
			mixed := typed(mpi.TypeStruct([]int{1, 1}, []int{0, 16}, []*mpi.Datatype{int64s, mpi.TypeFloat64}))
			far := typed(mpi.TypeHindexed([]int{1, 1}, []int{0, math.MaxInt - 8}, mpi.TypeInt8))
			loose, freed := get(mpi.TypeVector(2, 1, 2, int64s)), typed(mpi.TypeVector(2, 1, 2, int64s))
			ok(freed.Free())
			two, three := []int64{98, 99}, []int64{1, 2, 3}
			half := []int32{1, 2, 3, 4}
			out := mpi.Strided(make([]int64, 3), 2, 1, 2)
			put := func(b mpi.Buf, target, disp, count int, d *mpi.Datatype) error {
				return w.Win.Put(b, target, disp, count, d)
			}
			request := func(_ mpi.Request, err error) error { return err }
			checkBad(t,
				badCall{"Put outside of an epoch", put(mpi.Of(two), other, 0, 1, vector), mpi.ErrRMASync, "call Fence, Start, Lock or LockAll first"},
				badCall{"Put of nothing outside of an epoch", put(mpi.Buf{}, other, 0, 0, vector), mpi.ErrRMASync, "need an epoch"},
				badCall{"Put to no process outside of an epoch", put(mpi.Of(two), mpi.ProcNull, 0, 1, vector), mpi.ErrRMASync, "need an epoch"},
				badCall{"Rget outside of an epoch", request(w.Rget(out, other, 0, 1, vector)), mpi.ErrRMASync, "needs a lock"},
				badCall{"Rput of nothing outside of an epoch", request(w.Rput(mpi.Buf{}, other, 0, 0, vector)), mpi.ErrRMASync, "needs a lock"},
				badCall{"Rput to no process outside of an epoch", request(w.Rput(mpi.Of(two), mpi.ProcNull, 0, 1, vector)), mpi.ErrRMASync, "needs a lock"},
			)
			ok(w.LockAll())
			checkBad(t,
				badCall{"Put to no rank", put(mpi.Of(two), 2, 0, 1, vector), mpi.ErrRank, "rank 2 is not in the window"},
				badCall{"Put at a negative displacement", put(mpi.Of(two), other, -1, 1, vector), mpi.ErrDisp, "-1 is negative"},
				badCall{"Put across the end", put(mpi.Of(two), other, 2, 1, vector), mpi.ErrRMARange, "the bytes from 0 to 24 behind displacement 2 (of 8 bytes each)"},
				badCall{"Put behind the end", put(mpi.Of(two), other, 8, 1, vector), mpi.ErrRMARange, "which has 32 bytes"},
				badCall{"Put far behind it", put(mpi.Of(two), other, math.MaxInt, 1, vector), mpi.ErrRMARange, "are not all in the part"},
				badCall{"Put before the beginning", put(mpi.Of(two), other, 1, 1, back), mpi.ErrRMARange, "from -16 to 8"},
				badCall{"Put of too many elements", put(mpi.Of(make([]int64, 4)), other, 0, 2, vector), mpi.ErrRMARange, "from 0 to 48"},
				badCall{"Rput across the end", request(w.Rput(mpi.Of(two), other, 2, 1, vector)), mpi.ErrRMARange, "behind displacement 2"},
				badCall{"Get of what no memory has", w.Win.Get(mpi.Of([]int8{1, 2}), other, 1, 1, far), mpi.ErrRMARange, "are not all in the part"},
				badCall{"Put without a type", put(mpi.Of(two), other, 0, 1, nil), mpi.ErrType, "it is no datatype"},
				badCall{"Put with a freed type", put(mpi.Of(two), other, 0, 1, freed), mpi.ErrType, "has been freed"},
				badCall{"Put with a type that is not committed", put(mpi.Of(two), other, 0, 1, loose), mpi.ErrType, "call Commit first"},
				badCall{"Put of a negative count", put(mpi.Of(two), other, 0, -1, vector), mpi.ErrCount, "-1 elements"},
				badCall{"Put of a count without bound", put(mpi.Of(two), other, 0, math.MaxInt, vector), mpi.ErrCount, "too many"},
				badCall{"Put of too few bytes", put(mpi.Of(two[:1]), other, 0, 1, vector), mpi.ErrCount, "origin has 8 bytes of data and the elements at the target 16"},
				badCall{"Put of too many bytes", put(mpi.Of(three), other, 0, 1, vector), mpi.ErrCount, "equally many"},
				badCall{"Put of nothing to something", put(mpi.Buf{}, other, 0, 1, vector), mpi.ErrCount, "origin has 0 bytes"},
				badCall{"Get of too many bytes", w.Win.Get(mpi.Of(three), other, 0, 1, vector), mpi.ErrCount, "origin has 24 bytes"},
				badCall{"Put to elements that overlap", put(mpi.Of(two), other, 0, 1, twice), mpi.ErrType, "overlap"},
				badCall{"Accumulate to elements that overlap", w.Win.Accumulate(mpi.Sum, mpi.Of(two), other, 0, 1, twice), mpi.ErrType, "overlap"},
				badCall{"GetAccumulate of NoOp to elements that overlap", w.Win.GetAccumulate(mpi.NoOp, mpi.Buf{}, out, other, 0, 1, twice), mpi.ErrType, "overlap"},
				badCall{"Get into elements that overlap", w.Win.Get(mpi.As(twice, make([]int64, 2), 1), other, 0, 1, vector), mpi.ErrType, "overlap"},
				badCall{"GetAccumulate into elements that overlap", w.Win.GetAccumulate(mpi.Sum, mpi.Of(two), mpi.As(twice, make([]int64, 2), 1), other, 0, 1, vector), mpi.ErrType, "result"},
				badCall{"Put of a Buf outside of its memory", put(mpi.As(vector, two, 1), other, 0, 1, vector), mpi.ErrBuffer, "origin"},
				badCall{"Put of BufInPlace", put(mpi.BufInPlace, other, 0, 1, vector), mpi.ErrBuffer, "BufInPlace"},
				badCall{"Accumulate of two kinds there", w.Win.Accumulate(mpi.Sum, mpi.Of(two), other, 0, 1, mixed), mpi.ErrType, "several predefined types"},
				badCall{"Accumulate of two kinds here", w.Win.Accumulate(mpi.Sum, mpi.As(mixed, three, 1), other, 0, 1, vector), mpi.ErrType, "origin has elements of several"},
				badCall{"Accumulate of different kinds", w.Win.Accumulate(mpi.Sum, mpi.Of(half), other, 0, 1, vector), mpi.ErrType, "of int32 and the target of int64"},
				badCall{"GetAccumulate into another kind", w.Win.GetAccumulate(mpi.Sum, mpi.Of(two), mpi.Of(half), other, 0, 1, vector), mpi.ErrType, "result has elements of int32"},
				badCall{"Sum of pairs", w.Win.Accumulate(mpi.Sum, mpi.As(mpi.Type2Int, two, 2), other, 0, 2, mpi.Type2Int), mpi.ErrOp, "Sum"},
				badCall{"Accumulate of packed bytes", w.Win.Accumulate(mpi.Replace, mpi.As(mpi.TypePacked, two, 16), other, 0, 16, mpi.TypePacked), mpi.ErrType, "no elements of packed"},
				badCall{"Sum of bytes", w.Win.Accumulate(mpi.Sum, mpi.As(mpi.TypeByte, two, 16), other, 0, 16, mpi.TypeByte), mpi.ErrOp, "does not fit bytes"},
				badCall{"bits of numbers", w.Win.Accumulate(mpi.BAnd, mpi.Of([]float64{1}), other, 0, 1, mpi.TypeFloat64), mpi.ErrOp, "float64"},
				badCall{"Accumulate without an operator", w.Win.Accumulate(nil, mpi.Of(two), other, 0, 1, vector), mpi.ErrOp, "nil"},
				badCall{"Accumulate of the program's operator", w.Win.Accumulate((*mpi.Op)(mpi.NewOp(func(a, b int64) int64 { return a })), mpi.Of(two), other, 0, 1, vector), mpi.ErrOp, "the program's own"},
				badCall{"Accumulate with NoOp", w.Win.Accumulate(mpi.NoOp, mpi.Of(two), other, 0, 1, vector), mpi.ErrOp, "GetAccumulate"},
				badCall{"Raccumulate with NoOp", request(w.Raccumulate(mpi.NoOp, mpi.Of(two), other, 0, 1, vector)), mpi.ErrOp, "GetAccumulate"},
				badCall{"GetAccumulate of different lengths", w.Win.GetAccumulate(mpi.Sum, mpi.Of(two), mpi.Of(three), other, 0, 1, vector), mpi.ErrCount, "result has 24 bytes"},
				badCall{"FetchAndOp of two elements", w.Win.FetchAndOp(mpi.Sum, mpi.Of(two), mpi.Of(two), other, 0), mpi.ErrCount, "result has 2 elements"},
				badCall{"FetchAndOp of a derived type", w.Win.FetchAndOp(mpi.Sum, mpi.Of(two), out, other, 0), mpi.ErrType, "derived"},
				badCall{"FetchAndOp of nothing", w.Win.FetchAndOp(mpi.Sum, mpi.Of(two[:1]), mpi.Buf{}, other, 0), mpi.ErrCount, "result has no elements"},
				badCall{"FetchAndOp of two types", w.Win.FetchAndOp(mpi.Sum, mpi.Of([]float64{1}), mpi.Of(two[:1]), other, 0), mpi.ErrType, "origin has elements of float64"},
				badCall{"CompareAndSwap of two types", w.Win.CompareAndSwap(mpi.Of([]uint64{1}), mpi.Of(two[:1]), mpi.Of(two[:1]), other, 0), mpi.ErrType, "compare has another type"},
				badCall{"CompareAndSwap of numbers that are not integers", w.Win.CompareAndSwap(mpi.Of([]float64{1}), mpi.Of([]float64{1}), mpi.Of([]float64{1}), other, 0), mpi.ErrType, "bool, integers and bytes"},
				badCall{"CompareAndSwap behind the end", w.Win.CompareAndSwap(mpi.Of(two[:1]), mpi.Of(two[:1]), mpi.Of([]int64{1}), other, 4), mpi.ErrRMARange, "which has 32 bytes"},
			)
			ok(put(mpi.Of(two), mpi.ProcNull, -1, 1, vector))
			q := get(w.RgetAccumulate(mpi.Sum, mpi.Of(two), out, mpi.ProcNull, -1, 1, vector))
			get(mpi.Wait(&q))
			ok(put(mpi.Buf{}, other, 4, 0, vector))
			q = get(w.Rput(mpi.Of(two[:0]), other, 0, 0, vector))
			get(mpi.Wait(&q))
			ok(w.UnlockAll())
			ok(c.Barrier())
			for i, v := range w.Local() {
				if v != int64(i) {
					t.Errorf("a refused call has written: %v", w.Local())
				}
			}
			ok(w.Free())
			checkBad(t, badCall{"a freed window", put(mpi.Of(two), other, 0, 1, vector), mpi.ErrWin, "has been freed"},
				badCall{"no window", (*mpi.Win)(nil).Put(mpi.Of(two), other, 0, 1, vector), mpi.ErrWin, "nil"},
				badCall{"FetchAndOp in no window", (*mpi.Win)(nil).FetchAndOp(mpi.Sum, mpi.Of(two), mpi.Of(two), other, 0), mpi.ErrWin, "nil"})

			d := get(mpi.WinCreateDynamic(c, mpi.WinOptions{}))
			mine := make([]int64, 8)
			places := make([]int, 2)
			ok(mpi.Allgather(c, []int{get(mpi.Attach(d, mine[2:6]))}, places))
			ok(d.LockAll())
			for _, target := range []int{me, other} {
				checkBad(t, badCall{"Put at an address below 0", d.Put(mpi.Of(two), target, 8, 1, back), mpi.ErrRMARange, "no memory"},
					badCall{"Put where no memory is", d.Put(mpi.Of([]int8{1, 2}), target, places[target], 1, far), mpi.ErrRMARange, "no memory"})
				for _, at := range []int{-8, 16} {
					ok(d.Put(mpi.Of(two), target, places[target]+at, 1, vector))
					checkBad(t, badCall{"Put beside what is attached", d.Flush(target), mpi.ErrRMARange, "24 bytes at"})
					q := get(d.Rget(out, target, places[target]+at, 1, vector))
					checkBad(t, badCall{"Rget beside what is attached", second(mpi.Wait(&q)), mpi.ErrRMARange, "24 bytes at"})
				}
				ok(d.Put(mpi.Of(two), target, places[target]+16+8*me, 1, back)) // all within
				ok(d.Flush(target))
			}
			ok(d.UnlockAll())
			ok(c.Barrier())
			if mine[0] != 0 || mine[1] != 0 || mine[6] != 0 || mine[7] != 0 {
				t.Errorf("bytes that are not attached have changed: %v", mine)
			}
			ok(d.Free())
		})
	})
}
