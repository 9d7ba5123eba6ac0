package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/mpi"
	"github.com/weft-mpi/weft/rma"
)

// badCall is a call that is refused, with the class and a word of its error.
type badCall struct {
	what string
	err  error
	as   mpi.Class
	word string
}

func checkBad(t *testing.T, calls ...badCall) {
	t.Helper()
	for _, b := range calls {
		want(t, b.what, b.err, b.as)
		if b.err != nil && !strings.Contains(b.err.Error(), b.word) {
			t.Errorf("%s: the error %q does not say %q", b.what, b.err, b.word)
		}
	}
}

// What a window can't do is refused in the call, with words, and changes nothing.
func TestBadCallsOnWindowsAreAnsweredWithTheirClass(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			me, other := c.Rank(), 1-c.Rank()
			w := get(mpi.WinAllocate[int64](c, 4, mpi.WinOptions{}))
			for i := range w.Local() {
				w.Local()[i] = int64(i)
			}
			ok(c.Barrier())
			one, big := []int64{99}, make([]int64, 5)
			put := func(target, disp int) error { return w.Put(one, target, disp) }
			request := func(_ mpi.Request, err error) error { return err }
			checkBad(t,
				badCall{"Put outside of an epoch", put(other, 0), mpi.ErrRMASync, "call Fence, Start, Lock or LockAll first"},
				badCall{"Put to oneself outside of an epoch", put(me, 0), mpi.ErrRMASync, "no epoch is open"},
				badCall{"Accumulate outside of an epoch", w.Accumulate(mpi.Sum, one, other, 0), mpi.ErrRMASync, "need an epoch"},
				badCall{"Rput outside of an epoch", request(mpi.Rput(w.Win, one, other, 0)), mpi.ErrRMASync, "needs a lock"},
				badCall{"Put to no process outside of an epoch", put(mpi.ProcNull, 0), mpi.ErrRMASync, "need an epoch"},
				badCall{"Rget from no process outside of an epoch", request(mpi.Rget(w.Win, one, mpi.ProcNull, 0)), mpi.ErrRMASync, "needs a lock"},
				badCall{"Complete without Start", w.Complete(), mpi.ErrRMASync, "Start"},
				badCall{"Wait without Post", w.Wait(), mpi.ErrRMASync, "Post"},
				badCall{"Test without Post", second(w.Test()), mpi.ErrRMASync, "Post"},
				badCall{"Unlock without Lock", w.Unlock(other), mpi.ErrRMASync, "is not locked"},
				badCall{"UnlockAll without LockAll", w.UnlockAll(), mpi.ErrRMASync, "LockAll"},
				badCall{"Flush without a lock", w.Flush(other), mpi.ErrRMASync, "needs a lock"},
				badCall{"FlushLocal without a lock", w.FlushLocal(other), mpi.ErrRMASync, "needs a lock"},
				badCall{"FlushAll without a lock", w.FlushAll(), mpi.ErrRMASync, "needs a lock"},
				badCall{"Sync without a lock", w.Sync(), mpi.ErrRMASync, "needs a lock"},
				badCall{"a lock of no kind", w.Lock(7, other), mpi.ErrLocktype, "LockExclusive or LockShared"},
				badCall{"a lock of no rank", w.Lock(mpi.LockShared, 2), mpi.ErrRank, "rank 2 is not in the window of 2 ranks (0 to 1)"},
				badCall{"a lock with an assertion of fences", w.Lock(mpi.LockShared, other, mpi.NoStore), mpi.ErrAssert, "Lock takes NoCheck: leave out NoStore"},
				badCall{"LockAll with an assertion that there is not", w.LockAll(1), mpi.ErrAssert, "0x1"},
				badCall{"Fence with an assertion of locks", w.Fence(mpi.NoCheck), mpi.ErrAssert, "leave out NoCheck"},
				badCall{"Post of no group", w.Post(nil), mpi.ErrGroup, "GroupEmpty"},
				badCall{"Start with an assertion of Post", w.Start(mpi.GroupEmpty, mpi.NoPut), mpi.ErrAssert, "Start takes NoCheck"},
				badCall{"Attach to a window with memory", second(mpi.Attach(w.Win, one)), mpi.ErrRMAFlavor, "WinCreateDynamic"},
				badCall{"Detach from a window with memory", mpi.Detach(w.Win, one), mpi.ErrRMAFlavor, "WinCreateDynamic"},
				badCall{"Shared of no rank", second(w.Shared(5)), mpi.ErrRank, "rank 5"},
				badCall{"Epoch without a function", w.Epoch(mpi.LockShared, me, nil), mpi.ErrArg, "nil"},
			)
			ok(w.Lock(mpi.LockShared, other))
			var f float64
			var x int64
			checkBad(t,
				badCall{"a second Lock", w.Lock(mpi.LockShared, other), mpi.ErrRMASync, "is locked already"},
				badCall{"a second Lock of another kind", w.Lock(mpi.LockExclusive, other), mpi.ErrRMASync, "is locked already"},
				badCall{"Put to a rank that is not locked", put(me, 0), mpi.ErrRMASync, fmt.Sprintf("rank %d is not one of them", me)},
				badCall{"Put to no rank", put(2, 0), mpi.ErrRank, "rank 2 is not in the window"},
				badCall{"Put to any rank", put(mpi.AnySource, 0), mpi.ErrRank, "rank -1 is AnySource, a wildcard"},
				badCall{"Put behind the end", put(other, 4), mpi.ErrRMARange, "which has 32 bytes"},
				badCall{"Put far behind it", put(other, math.MaxInt), mpi.ErrRMARange, "displacement"},
				badCall{"Put across the end", w.Put(big, other, 0), mpi.ErrRMARange, "40 bytes from displacement 0 on (of 8 bytes each)"},
				badCall{"Get across the end", w.Get(big, other, 1), mpi.ErrRMARange, "are not in the part"},
				badCall{"Put at a negative displacement", put(other, -1), mpi.ErrDisp, "-1 is negative"},
				badCall{"Rget at a negative displacement", request(mpi.Rget(w.Win, one, other, math.MinInt)), mpi.ErrDisp, "is negative"},
				badCall{"Accumulate without an operator", w.Accumulate(nil, one, other, 0), mpi.ErrOp, "nil"},
				badCall{"Accumulate of the program's operator", w.Accumulate((*mpi.Op)(mpi.NewOp(func(a, b int64) int64 { return a })), one, other, 0), mpi.ErrOp, "the program's own"},
				badCall{"Accumulate of bits of numbers", mpi.Accumulate(w.Win, mpi.BAnd, []float64{1}, other, 0), mpi.ErrOp, "float64"},
				badCall{"Accumulate with NoOp", w.Accumulate(mpi.NoOp, one, other, 0), mpi.ErrOp, "GetAccumulate"},
				badCall{"Raccumulate with NoOp", request(mpi.Raccumulate(w.Win, mpi.NoOp, one, other, 0)), mpi.ErrOp, "GetAccumulate"},
				badCall{"GetAccumulate of different lengths", w.GetAccumulate(mpi.Sum, one, big[:2], other, 0), mpi.ErrCount, "equally long"},
				badCall{"FetchAndOp of nil", mpi.FetchAndOp(w.Win, mpi.Sum, nil, &x, other, 0), mpi.ErrBuffer, "nil"},
				badCall{"CompareAndSwap of nil", mpi.CompareAndSwap(w.Win, nil, &x, &x, other, 0), mpi.ErrBuffer, "nil"},
				badCall{"CompareAndSwap of numbers that are not integers", mpi.CompareAndSwap(w.Win, &f, &f, &f, other, 0), mpi.ErrType, "bool and integers"},
				badCall{"LockAll beside Lock", w.LockAll(), mpi.ErrRMASync, "call Unlock for each"},
				badCall{"Fence beside Lock", w.Fence(), mpi.ErrRMASync, "one target is locked"},
				badCall{"Start beside Lock", w.Start(mpi.GroupEmpty), mpi.ErrRMASync, "call Unlock"},
				badCall{"UnlockAll for Lock", w.UnlockAll(), mpi.ErrRMASync, "call Unlock for each"},
				badCall{"Free beside Lock", w.Free(), mpi.ErrRMASync, "before Free"},
				badCall{"Flush of a rank that is not locked", w.Flush(me), mpi.ErrRMASync, "Lock"},
			)
			ok(w.Unlock(other))
			ok(c.Barrier())
			if !slices.Equal(w.Local(), []int64{0, 1, 2, 3}) {
				t.Errorf("a refused call has written: %v", w.Local())
			}
			alone := get(mpi.WinAllocate[int64](get(c.Split(me, 0)), 1, mpi.WinOptions{}))
			checkBad(t, badCall{"Post to ranks outside", alone.Post(c.Group()), mpi.ErrGroup, "not in the window"},
				badCall{"Start with ranks outside", alone.Start(c.Group()), mpi.ErrGroup, "Win.Group"})
			ok(alone.Free())
			ok(w.Free())
			var zero mpi.Window[int64]
			checkBad(t, badCall{"a freed window", put(other, 0), mpi.ErrWin, "has been freed"},
				badCall{"Lock of a freed window", w.Lock(mpi.LockShared, other), mpi.ErrWin, "has been freed"},
				badCall{"a second Free", w.Free(), mpi.ErrWin, "has been freed"},
				badCall{"no window", zero.Put(one, other, 0), mpi.ErrWin, "nil"},
				badCall{"Free of no window", (*mpi.Win)(nil).Free(), mpi.ErrWin, "nil"})
		})
	})
}

// What does not lie in memory that is attached is refused, here or there.
func TestBadUsesOfDynamicWindows(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			me, other := c.Rank(), 1-c.Rank()
			w := get(mpi.WinCreateDynamic(c, mpi.WinOptions{}))
			mine := make([]int64, 8)
			at := get(mpi.Attach(w, mine[2:6]))
			checkBad(t,
				badCall{"Attach of what is attached", second(mpi.Attach(w, mine[2:6])), mpi.ErrRMAAttach, "overlaps"},
				badCall{"Attach across what is attached", second(mpi.Attach(w, mine)), mpi.ErrRMAAttach, "overlaps"},
				badCall{"Attach within what is attached", second(mpi.Attach(w, mine[3:4])), mpi.ErrRMAAttach, "overlaps"},
				badCall{"Detach of what is not attached", mpi.Detach(w, mine), mpi.ErrRMAAttach, "detach what Attach was given"},
				badCall{"Detach of a part", mpi.Detach(w, mine[3:6]), mpi.ErrRMAAttach, "detach what Attach was given"},
			)
			places := make([]int, 2)
			ok(mpi.Allgather(c, []int{at}, places))
			ok(w.LockAll())
			for _, target := range []int{me, other} {
				before, across, last := places[target]-8, places[target]+24, places[target]+32
				ok(mpi.Put(w, []int64{99}, target, before))
				checkBad(t, badCall{"Put before it", w.Flush(target), mpi.ErrRMARange, "are not attached"})
				ok(mpi.Accumulate(w, mpi.Sum, []int64{99, 99}, target, across))
				checkBad(t, badCall{"Accumulate across its end", w.Flush(target), mpi.ErrRMARange, "16 bytes"})
				ok(mpi.Get(w, []int64{0}, target, last))
				checkBad(t, badCall{"Get behind it", w.FlushAll(), mpi.ErrRMARange, fmt.Sprintf("of rank %d", target)})
				checkBad(t, badCall{"a negative address", mpi.Put(w, []int64{99}, target, -8), mpi.ErrDisp, "negative"})
				ok(w.Flush(target))
			}
			ok(w.UnlockAll())
			ok(c.Barrier())
			if slices.Max(mine) != 0 {
				t.Errorf("a refused operation has written: %v", mine)
			}
			ok(w.Free())
		})
	})
}

// A window that one rank can't make is made by none, and all say why.
func TestAWindowIsMadeByAllRanksOrNone(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			last := c.Rank() == 1
			bad, n := mpi.WinOptions{}, 1
			if last {
				bad, n = mpi.WinOptions{DispUnit: -4}, -1
			}
			wrong := mpi.WinOptions{}
			if last {
				wrong.Info = hint("accumulate_ordering", "rar,wra")
			}
			words := func(own string) string {
				if last {
					return own
				}
				return "since rank 1 could not make its part"
			}
			checkBad(t,
				badCall{"WinCreate with a negative unit", second(mpi.WinCreate(c, make([]int32, 1), bad)), mpi.ErrDisp, words("-4 bytes")},
				badCall{"WinAllocate of less than nothing", second(mpi.WinAllocate[int32](c, n, mpi.WinOptions{})), mpi.ErrSize, words("-1 elements")},
				badCall{"WinAllocateShared of less than nothing", second(mpi.WinAllocateShared[int32](c, n, mpi.WinOptions{})), mpi.ErrSize, words("-1 elements")},
				badCall{"WinCreateDynamic with a hint that there is not", second(mpi.WinCreateDynamic(c, wrong)), mpi.ErrInfoValue, words(`"rar,wra"`)},
				badCall{"WinAllocate of too much", second(mpi.WinAllocate[int64](c, math.MaxInt/4, mpi.WinOptions{})), mpi.ErrSize, ""},
			)
			if fabric == "mem" || fabric == "shm" {
				checkBad(t, badCall{"WinAllocateShared of too much", second(mpi.WinAllocateShared[byte](c, math.MaxInt, mpi.WinOptions{})), mpi.ErrSize, "longer than any memory"},
					badCall{"WinAllocateShared of too much together", second(mpi.WinAllocateShared[byte](c, math.MaxInt/2+1, mpi.WinOptions{})), mpi.ErrSize, "longer than any memory"},
					badCall{"WinAllocateShared of more than there is", second(mpi.WinAllocateShared[byte](c, 1<<60, mpi.WinOptions{})), mpi.ErrNoMem, ""})
			}
			d := get(c.Dup())
			w := get(mpi.WinAllocate[int32](d, 1, mpi.WinOptions{}))
			ok(d.Free())
			checkBad(t, badCall{"WinAllocate on a freed communicator", second(mpi.WinAllocate[int32](d, 1, mpi.WinOptions{})), mpi.ErrComm, "has been freed"},
				badCall{"WinCreate on none", second(mpi.WinCreate(nil, []int32{1}, mpi.WinOptions{})), mpi.ErrComm, "nil"})
			ok(w.Fence())
			ok(w.Put([]int32{7}, 1-c.Rank(), 0))
			ok(w.Fence(mpi.NoSucceed))
			if w.Local()[0] != 7 {
				t.Error("a window ends with the communicator that it was made of")
			}
			ok(w.Free())
			side := get(c.Split(c.Rank(), 0))
			both := get(mpi.IntercommCreate(side, 0, c, 1-c.Rank(), 3))
			for what, err := range map[string]error{
				"WinCreate":         second(mpi.WinCreate(both, []int32{1}, mpi.WinOptions{})),
				"WinAllocate":       second(mpi.WinAllocate[int32](both, 1, mpi.WinOptions{})),
				"WinAllocateShared": second(mpi.WinAllocateShared[int32](both, 1, mpi.WinOptions{Noncontiguous: true})),
				"WinCreateDynamic":  second(mpi.WinCreateDynamic(both, mpi.WinOptions{})),
			} {
				checkBad(t, badCall{what + " on an intercommunicator", err, mpi.ErrComm, "two groups"})
			}
		})
	})
}

func TestErrorsOfTheLayersBelowWindowsHaveClasses(t *testing.T) {
	for want, err := range map[mpi.Class]error{
		mpi.ErrProcFailed: &rma.LockError{Target: 1, Dead: 2, Held: true},
		mpi.ErrType:       &rma.CompareError{},
		mpi.ErrRMAAttach:  &rma.AttachError{},
		mpi.ErrRMARange:   &rma.RangeError{},
		mpi.ErrAssert:     &rma.AssertError{},
		mpi.ErrRMASync:    &rma.SyncError{},
		mpi.ErrWin:        &rma.SyncError{Freed: true},
		mpi.ErrRMAShared:  comm.ErrUnshared,
		mpi.ErrSize:       comm.ErrTooLong,
		mpi.ErrLocktype:   &comm.WindowError{Code: int32(mpi.ErrLocktype)},
		mpi.ErrOther:      errors.New("any"),
	} {
		if got := mpi.ErrorClass(fmt.Errorf("x: %w", err)); got != want {
			t.Errorf("%T: class %v, want %v", err, got, want)
		}
	}
}
