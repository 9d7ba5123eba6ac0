package rma

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
	"pgregory.net/rapid"
)

// plainWindow is the naive model: what is open, in words, and which calls are under
// way.
type plainWindow struct {
	rank             int
	access           string // "", "fence", "Start" or "LockAll"
	operations       bool   // since the fence
	group            map[int]bool
	locks            map[int]string // "opening", "held" or "closing"
	exposed          bool
	accessCall       bool
	exposureCall     bool
	lockingAll, gone bool
}

func (w *plainWindow) accessOpen() bool {
	return w.access == "Start" || w.access == "LockAll" || len(w.locks) > 0 || w.access == "fence" && w.operations
}

// may says whether a change may begin.
func (w *plainWindow) may(call string, target int, a Assert) bool {
	if w.gone {
		return false
	}
	switch call {
	case "Fence":
		other := w.access == "Start" || w.access == "LockAll" || len(w.locks) > 0
		return !other && !w.exposed && !w.accessCall && !w.exposureCall && (a&NoPrecede == 0 || !w.operations)
	case "Free":
		return !w.accessOpen() && !w.exposed && !w.accessCall && !w.exposureCall
	case "Start":
		return !w.accessOpen() && !w.accessCall
	case "Complete":
		return w.access == "Start" && !w.accessCall
	case "LockAll":
		return !w.accessOpen() && !w.accessCall && !w.exposed && !w.exposureCall
	case "UnlockAll":
		return w.access == "LockAll" && !w.accessCall
	case "Lock":
		free := w.locks[target] == "" && w.access != "Start" && w.access != "LockAll" && !w.operations && !w.accessCall
		return free && (target != w.rank || !w.exposed && !w.exposureCall)
	case "Unlock":
		return w.locks[target] == "held"
	case "Post":
		return !w.exposed && !w.exposureCall && w.locks[w.rank] == "" && w.access != "LockAll" && !w.lockingAll
	default: // Wait, Test
		return w.exposed && !w.exposureCall
	}
}

// mayAccess says whether an operation is allowed, and notes it.
func (w *plainWindow) mayAccess(target int, passive bool) bool {
	switch {
	case w.gone || w.accessCall:
		return false
	case w.access == "LockAll":
		return true
	case len(w.locks) > 0:
		return target < 0 || w.locks[target] == "held"
	case passive:
		return false
	case w.access == "fence":
		w.operations = true
		return true
	}
	return w.access == "Start" && (target < 0 || w.group[target])
}

// pending is a change in both windows.
type pending struct {
	ch     change
	call   string
	target int
	a      Assert
	group  []int
}

func (w *plainWindow) begun(p pending) {
	switch p.call {
	case "Lock":
		w.locks[p.target] = "opening"
	case "Unlock":
		w.locks[p.target] = "closing"
	case "Post", "Wait", "Test":
		w.exposureCall = true
	case "Fence", "Free":
		w.accessCall, w.exposureCall = true, true
	default:
		w.accessCall, w.lockingAll = true, p.call == "LockAll"
	}
}

func (w *plainWindow) over(p pending, done bool) {
	switch p.call {
	case "Lock", "Unlock":
		if done == (p.call == "Lock") {
			w.locks[p.target] = "held"
		} else {
			delete(w.locks, p.target)
		}
	case "Post", "Wait", "Test":
		w.exposureCall = false
		if done {
			w.exposed = p.call == "Post"
		}
	case "Fence", "Free":
		w.accessCall, w.exposureCall = false, false
	default:
		w.accessCall, w.lockingAll = false, false
	}
	if !done {
		return
	}
	switch p.call {
	case "Lock", "Complete", "UnlockAll":
		w.access, w.group = "", nil
	case "Start", "LockAll":
		w.access, w.group = p.call, map[int]bool{}
		for _, t := range p.group {
			w.group[t] = true
		}
	case "Fence":
		w.access, w.operations = "fence", false
		if p.a&NoSucceed != 0 {
			w.access = ""
		}
	case "Free":
		w.access, w.gone = "", true
	}
}

func TestEpochsDoAsTheModel(t *testing.T) {
	calls := []string{"Fence", "Start", "Complete", "Post", "Wait", "Test", "Lock", "Unlock", "LockAll", "UnlockAll", "Free",
		"op", "request", "flush", "all", "Lock", "Unlock", "op", "op", "Fence", "Start", "Complete", "Post", "Wait"}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 3, 64, 65, 200, 10_000}).Draw(t, "size")
		some := []int{0, size / 2, size - 1, min(63, size-1), min(64, size-1), min(130, size-1)}
		w := &plainWindow{rank: rapid.SampledFrom(some).Draw(t, "rank"), locks: map[int]string{}}
		e := new(epochs)
		e.init(size, w.rank)
		var open []pending
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if n := len(open); n > 0 && rapid.IntRange(0, 2).Draw(t, "finish") > 0 {
				i := rapid.IntRange(0, n-1).Draw(t, "which")
				p, done := open[i], rapid.IntRange(0, 3).Draw(t, "done") > 0
				open = append(open[:i:i], open[i+1:]...)
				if done {
					p.ch.end()
				} else {
					p.ch.cancel()
				}
				w.over(p, done)
				continue
			}
			p := pending{call: rapid.SampledFrom(calls).Draw(t, "call"), target: rapid.SampledFrom(some).Draw(t, "target")}
			var err error
			var may bool
			switch p.call {
			case "op":
				p.target -= rapid.IntRange(0, 1).Draw(t, "none") * (p.target + 1)
				err, may = e.op(p.target), w.mayAccess(p.target, false)
			case "request":
				err, may = e.requestOp(p.target), w.mayAccess(p.target, true)
			case "flush":
				err, may = e.flush(CallFlush, p.target), w.mayAccess(p.target, true)
			case "all":
				err, may = e.flushAll(CallSync), w.mayAccess(-1, true)
			default:
				if p.call == "Fence" {
					p.a = rapid.SampledFrom([]Assert{0, NoPrecede, NoSucceed, NoPrecede | NoSucceed}).Draw(t, "assert")
				}
				if p.call == "Start" {
					p.group = rapid.SliceOfNDistinct(rapid.SampledFrom(some), 0, -1, rapid.ID).Draw(t, "group")
				}
				p.ch, err = p.begin(e)
				if may = w.may(p.call, p.target, p.a); may && err == nil {
					w.begun(p)
					open = append(open, p)
				}
			}
			if (err == nil) != may {
				t.Fatalf("%s of %d: %v, in the model it is %v", p.call, p.target, err, may)
			}
		}
	})
}

func (p pending) begin(e *epochs) (change, error) {
	switch p.call {
	case "Fence":
		return e.fence(p.a)
	case "Start":
		return e.start(0, p.group)
	case "Lock":
		return e.lock(p.target, p.target%2 == 1, 0)
	case "Unlock":
		ch, err := e.unlock(p.target)
		if err == nil && ch.exclusive != (p.target%2 == 1) {
			return ch, errors.New("the lock is of the other kind")
		}
		return ch, err
	}
	return begin(e, p.call)
}

func TestAnAssertionThatACallDoesNotTakeIsRefused(t *testing.T) {
	all := []Assert{NoCheck, NoStore, NoPut, NoPrecede, NoSucceed, 1 << 6}
	good := map[string]string{"Start": "NoCheck", "Post": "NoCheck|NoPut|NoStore", "Lock": "NoCheck", "LockAll": "NoCheck",
		"Fence": "NoPrecede|NoPut|NoStore|NoSucceed"}
	for call, want := range good {
		taken := Assert(0)
		for _, a := range all {
			e := in(t, "-")
			var err error
			switch call {
			case "Start":
				_, err = e.start(a, nil)
			case "Post":
				_, err = e.post(a)
			case "Lock":
				_, err = e.lock(1, false, a)
			case "LockAll":
				_, err = e.lockAll(a)
			default:
				_, err = e.fence(a)
			}
			var ae *AssertError
			switch {
			case err == nil:
				taken |= a
			case !errors.As(err, &ae) || ae.Given != a || err.Error() != fmt.Sprintf("%s takes %s: leave out %v", call, want, a):
				t.Errorf("%s with %v: %v", call, a, err)
			case snapshot(e) != snapshot(in(t, "-")):
				t.Errorf("%s with %v: the state is %s", call, a, snapshot(e))
			}
		}
		if taken.String() != want {
			t.Errorf("%s takes %v, want %s", call, taken, want)
		}
	}
}

func TestARefusalSaysWhatIsOpenAndWhatToDo(t *testing.T) {
	for _, c := range []struct{ state, call, want string }{
		{"-", "Op 1", "no epoch is open: operations need an epoch, call Fence, Start, Lock or LockAll first"},
		{"F", "RequestOp 1", "a fence was the last synchronization: an operation with a request needs a lock, call Lock or LockAll first"},
		{"F+", "Lock 1", "a fence epoch with operations is open: end it with Fence(NoSucceed) before Lock"},
		{"S", "Op 3", "an access epoch of Start is open: rank 3 is not in the group of Start, add it there"},
		{"SX", "Fence", "an access epoch of Start is open, and an exposure epoch of Post is open: call Wait before Fence"},
		{"L1", "Op 2", "one target is locked: rank 2 is not one of them, call Lock for it first"},
		{"L1L2", "Unlock 0", "2 targets are locked: rank 0 is not one of them, call Lock for it first"},
		{"-", "Unlock 1", "no epoch is open: rank 1 is not locked, call Lock for it first"},
		{"LA", "Unlock 1", "all targets are locked by LockAll: UnlockAll unlocks them, not Unlock"},
		{"X", "Lock 0", "an exposure epoch of Post is open: call Wait before Lock, as no part of a window is locked and exposed at once"},
		{"Z", "Sync", "the window has been freed: make a new one"},
	} {
		if err := whole(in(t, c.state), c.call); err == nil || err.Error() != c.want {
			t.Errorf("%s in %s: %v, want %s", c.call, c.state, err, c.want)
		}
	}
	e := in(t, "X")
	if _, err := e.wait(); err != nil {
		t.Fatal(err)
	}
	want := "Wait is under way on another goroutine: one goroutine at a time opens and closes epochs, and operations wait for it"
	if _, err := e.test(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestOneOfManyGoroutinesOpensAnEpoch(t *testing.T) {
	for _, call := range []string{"Fence", "Start", "Post", "LockAll", "Lock 1", "Lock 4", "Free"} {
		e := in(t, "-")
		var in atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := begin(e, call); err == nil {
					in.Add(1)
				}
			})
		}
		all.Wait()
		if in.Load() != 1 {
			t.Errorf("%d goroutines are in %s", in.Load(), call)
		}
	}
}

// The holder goes on from the state that it was given.
func TestOneCallAtATimeHoldsTheState(t *testing.T) {
	e := new(epochs)
	e.init(4, 0)
	var all sync.WaitGroup
	var holders atomic.Int32
	for range 4 {
		all.Go(func() {
			for range 200 {
				s := e.hold()
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold it", n)
				}
				runtime.Gosched() // so that others try
				holders.Add(-1)
				e.release(s + oneLock)
			}
		})
	}
	all.Wait()
	if n := e.load().locks(); n != 800 {
		t.Errorf("%d of 800 changes are there", n)
	}
}

func TestGoroutinesLockTargetsOfTheirOwnBesideExposureEpochs(t *testing.T) {
	e := new(epochs)
	e.init(300, 299)
	before := snapshot(e)
	var all sync.WaitGroup
	must := func(ch change, err error) {
		if err != nil {
			t.Error(err)
			return
		}
		ch.end()
	}
	for g := range 6 {
		all.Go(func() {
			for i := range 200 {
				target := (g + 6*i) % 294
				must(e.lock(target, i%2 == 0, 0))
				must(change{e: e}, errors.Join(e.op(target), e.requestOp(target), e.flush(CallFlush, target), e.flushAll(CallFlushAll)))
				ch, err := e.unlock(target)
				must(ch, err)
				if ch.exclusive != (i%2 == 0) {
					t.Errorf("the lock of %d is exclusive: %v", target, ch.exclusive)
				}
			}
		})
	}
	all.Go(func() {
		for range 200 {
			must(e.post(0))
			must(e.wait())
		}
	})
	all.Wait()
	clean := new(epochs)
	clean.init(300, 299)
	if e.load() != clean.load() || snapshot(e) == before {
		t.Errorf("the state is %x, want %x; %s", e.load(), clean.load(), snapshot(e))
	}
	e.words(func(w *uint64) {
		if *w != 0 {
			t.Error("bits of a target are left")
		}
	})
}

func TestManyGoroutinesOpenOneFenceEpoch(t *testing.T) {
	e := in(t, "F")
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for range 100 {
				if err := e.op(g % 5); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if snapshot(e) != snapshot(in(t, "F+")) {
		t.Errorf("the state is %s", snapshot(e))
	}
}
