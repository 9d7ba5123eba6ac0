package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// objectless are calls without a communicator, a window, a request, a session or a World
// that fail.
var objectless = map[string]func(g *mpi.Group) error{
	"Alloc":       func(*mpi.Group) error { return second(mpi.Alloc[int64](-1)) },
	"Alloc, much": func(*mpi.Group) error { return second(mpi.Alloc[int64](math.MaxInt)) },
	"Free":        func(*mpi.Group) error { return mpi.Free(make([]byte, 8)) },
	"SetCount":    func(*mpi.Group) error { return mpi.SetCount[int](new(mpi.Status), -1) },
	"SetCount of nil": func(*mpi.Group) error {
		return mpi.SetCount[int](nil, 1)
	},
	"Status.SetElements":    func(*mpi.Group) error { return new(mpi.Status).SetElements(nil, 1) },
	"NewInfo":               func(*mpi.Group) error { return second(mpi.NewInfo("key")) },
	"NewInfo, its key":      func(*mpi.Group) error { return second(mpi.NewInfo("", "value")) },
	"Info.Set":              func(*mpi.Group) error { return new(mpi.Info).Set("", "") },
	"Info.Set of nil":       func(*mpi.Group) error { var no *mpi.Info; return no.Set("key", "") },
	"Info.Delete":           func(*mpi.Group) error { return new(mpi.Info).Delete("key") },
	"Group.Compare":         func(g *mpi.Group) error { return second(g.Compare(nil)) },
	"Group.Incl":            func(g *mpi.Group) error { return second(g.Incl(99)) },
	"Group.Incl of nil":     func(*mpi.Group) error { var no *mpi.Group; return second(no.Incl()) },
	"Group.Excl":            func(g *mpi.Group) error { return second(g.Excl(-1)) },
	"Group.RangeIncl":       func(g *mpi.Group) error { return second(g.RangeIncl(mpi.Range{First: 0, Last: 0})) },
	"Group.RangeExcl":       func(g *mpi.Group) error { return second(g.RangeExcl(mpi.Range{First: 0, Last: 99, Stride: 1})) },
	"Group.Union":           func(g *mpi.Group) error { return second(g.Union(nil)) },
	"Group.Intersection":    func(g *mpi.Group) error { return second(g.Intersection(nil)) },
	"Group.Difference":      func(g *mpi.Group) error { return second(g.Difference(nil)) },
	"ReduceLocal":           func(*mpi.Group) error { return mpi.ReduceLocal(mpi.Sum, []int{1}, []int{}) },
	"Op.ReduceLocal":        func(*mpi.Group) error { return mpi.Sum.ReduceLocal(mpi.BufInPlace, mpi.BufInPlace) },
	"OpOf.ReduceLocal":      func(*mpi.Group) error { return new(mpi.OpOf[int]).ReduceLocal(mpi.Of([]int{1}), mpi.Of([]int{})) },
	"AddErrorCode":          func(*mpi.Group) error { return second(mpi.AddErrorCode(-1)) },
	"AddErrorString":        func(*mpi.Group) error { return mpi.AddErrorString(-1, "") },
	"RemoveErrorClass":      func(*mpi.Group) error { return mpi.RemoveErrorClass(-1) },
	"RemoveErrorCode":       func(*mpi.Group) error { return mpi.RemoveErrorCode(-1) },
	"TypeContiguous":        func(*mpi.Group) error { return second(mpi.TypeContiguous(-1, mpi.TypeInt8)) },
	"TypeContiguous of nil": func(*mpi.Group) error { return second(mpi.TypeContiguous(1, nil)) },
	"TypeVector":            func(*mpi.Group) error { return second(mpi.TypeVector(-1, 1, 1, mpi.TypeInt8)) },
	"TypeHvector":           func(*mpi.Group) error { return second(mpi.TypeHvector(-1, 1, 1, mpi.TypeInt8)) },
	"TypeIndexed":           func(*mpi.Group) error { return second(mpi.TypeIndexed([]int{1}, nil, mpi.TypeInt8)) },
	"TypeHindexed":          func(*mpi.Group) error { return second(mpi.TypeHindexed([]int{1}, nil, mpi.TypeInt8)) },
	"TypeIndexedBlock":      func(*mpi.Group) error { return second(mpi.TypeIndexedBlock(-1, []int{1}, mpi.TypeInt8)) },
	"TypeHindexedBlock":     func(*mpi.Group) error { return second(mpi.TypeHindexedBlock(-1, []int{1}, mpi.TypeInt8)) },
	"TypeStruct":            func(*mpi.Group) error { return second(mpi.TypeStruct([]int{1}, []int{0}, []*mpi.Datatype{nil})) },
	"TypeSubarray":          func(*mpi.Group) error { return second(mpi.TypeSubarray([]int{1}, nil, nil, mpi.OrderC, mpi.TypeInt8)) },
	"TypeDarray": func(*mpi.Group) error {
		return second(mpi.TypeDarray(0, 0, nil, nil, nil, nil, mpi.OrderC, mpi.TypeInt8))
	},
	"TypeResized":      func(*mpi.Group) error { return second(mpi.TypeResized(nil, 0, 8)) },
	"TypeOf":           func(*mpi.Group) error { return second(mpi.TypeOf[*int]()) },
	"Address":          func(*mpi.Group) error { return second(mpi.Address[int](nil)) },
	"Datatype.Commit":  func(*mpi.Group) error { var no *mpi.Datatype; return no.Commit() },
	"Datatype.Dup":     func(*mpi.Group) error { var no *mpi.Datatype; return second(no.Dup()) },
	"Datatype.Free":    func(*mpi.Group) error { return mpi.TypeInt8.Free() },
	"Datatype.SetName": func(*mpi.Group) error { return mpi.TypeInt8.SetName(strings.Repeat("x", 999)) },
	"Pack":             func(*mpi.Group) error { return second(mpi.Pack(mpi.Of([]int{1}), nil, 0)) },
	"Unpack":           func(*mpi.Group) error { return second(mpi.Unpack(nil, 0, mpi.Of([]int{1}))) },
	"PackSize":         func(*mpi.Group) error { return second(mpi.PackSize(1, nil)) },
	"PackExternal":     func(*mpi.Group) error { return second(mpi.PackExternal(mpi.Of([]int{1}), nil, 0)) },
	"UnpackExternal":   func(*mpi.Group) error { return second(mpi.UnpackExternal(nil, 0, mpi.Of([]int{1}))) },
	"PackExternalSize": func(*mpi.Group) error { return second(mpi.PackExternalSize(-1, mpi.TypeInt8)) },
	"TypeKeyval.Get": func(*mpi.Group) error {
		_, _, err := mpi.NewTypeKeyval[int](nil, nil).Get(nil)
		return err
	},
	"TypeKeyval.Set":    func(*mpi.Group) error { return mpi.NewTypeKeyval[int](nil, nil).Set(nil, 1) },
	"TypeKeyval.Delete": func(*mpi.Group) error { return mpi.NewTypeKeyval[int](nil, nil).Delete(nil) },
	"TypeKeyval.Free":   func(*mpi.Group) error { var no *mpi.TypeKeyval[int]; return no.Free() },
	"Keyval.Free":       func(*mpi.Group) error { var no *mpi.Keyval[int]; return no.Free() },
	"WinKeyval.Free":    func(*mpi.Group) error { var no *mpi.WinKeyval[int]; return no.Free() },
}

// Each of them goes to the handler of Self of the rank that makes it, once, and to no other;
// after Finalize to none.
func TestErrorsOfCallsWithoutAnObjectAreSelfs(t *testing.T) {
	for name, call := range ordered(objectless) {
		if err := call(mpi.GroupEmpty); err == nil || errors.Is(err, errSeen) {
			t.Errorf("%s without a World: %v", name, err)
		}
	}
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		var calls, others atomic.Int32
		ok(c.SetErrhandler(seer(&others)))
		ok(w.Self().SetErrhandler(seer(&calls)))
		ok(c.Barrier())
		for name, call := range ordered(objectless) {
			checkSeen(t, fmt.Sprintf("%s of rank %d", name, c.Rank()), &calls, call(c.Group()))
		}
		ok(c.Barrier())
		if c.Rank() == 0 {
			aside(func() { checkSeen(t, "another goroutine's Alloc", &calls, objectless["Alloc"](nil)) })()
		}
		ok(c.Barrier())
		g := c.Group()
		ok(w.Finalize())
		for name, call := range ordered(objectless) {
			if err := call(g); err == nil || errors.Is(err, errSeen) {
				t.Errorf("%s after Finalize: %v", name, err)
			}
		}
		if n := calls.Load() + others.Load(); n != 0 {
			t.Errorf("handlers were called %d times too often", n)
		}
	})
}

// Self's handler may end the job, as any other.
func TestAnErrorWithoutAnObjectMayBeFatal(t *testing.T) {
	var abort *mpi.AbortError
	err := mpi.Run(2, func(w *mpi.World) error {
		if w.Comm().Rank() == 1 {
			ok(w.Self().SetErrhandler(mpi.ErrorsAreFatal))
			return second(mpi.Alloc[int](-1))
		}
		return w.Comm().Barrier()
	}, mpi.WithFabric("mem"))
	if !errors.As(err, &abort) || abort.Code != int(mpi.ErrCount) {
		t.Errorf("the job ends with %v", err)
	}
}
