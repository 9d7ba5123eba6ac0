package rma

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	ops "github.com/weft-mpi/weft/internal/op"
)

// event is an operation on one location: from is when it was called, to when it had
// returned.
type event struct {
	code     ops.Code // 0: CompareAndSwap of value for compare
	value    uint64
	compare  uint64
	old      uint64
	from, to int64
}

// next is what an event makes of an element, or false if it can't have found it.
func (e event) next(k ops.Kind, now uint64) (uint64, bool) {
	switch {
	case e.old != now:
		return 0, false
	case e.code != 0:
		a, b := element(k, 0), element(k, 0)
		setBits(a, now)
		setBits(b, e.value)
		naive(e.code, k, a, b)
		return rawBits(a), true
	case now == e.compare:
		return e.value, true
	}
	return now, true
}

// linearizable searches for an order of events in which each finds what it has found,
// and none is before one that had returned when it was called (Wing and Gong).
func linearizable(k ops.Kind, events []event, first, last uint64) bool {
	type place struct {
		done uint64 // a bit for each event
		now  uint64
	}
	seen := map[place]bool{}
	var search func(p place) bool
	search = func(p place) bool {
		if p.done == 1<<len(events)-1 {
			return p.now == last
		}
		if seen[p] {
			return false
		}
		seen[p] = true
		// What was called after the first return of those that are left is not next.
		returned := int64(1 << 62)
		for i, e := range events {
			if p.done>>i&1 == 0 {
				returned = min(returned, e.to)
			}
		}
		for i, e := range events {
			if p.done>>i&1 != 0 || e.from > returned {
				continue
			}
			if now, ok := e.next(k, p.now); ok && search(place{p.done | 1<<i, now}) {
				return true
			}
		}
		return false
	}
	return search(place{0, first})
}

func TestTheCheckerOfHistoriesTellsGoodFromBad(t *testing.T) {
	add := func(old uint64, from, to int64) event {
		return event{code: ops.CodeSum, value: 1, old: old, from: from, to: to}
	}
	cas := func(compare, value, old uint64, from, to int64) event {
		return event{compare: compare, value: value, old: old, from: from, to: to}
	}
	for _, c := range []struct {
		name   string
		events []event
		last   uint64
		want   bool
	}{
		{"one after the other", []event{add(0, 1, 2), add(1, 3, 4)}, 2, true},
		{"at once, the second first", []event{add(1, 1, 4), add(0, 2, 3)}, 2, true},
		{"a sum is lost", []event{add(0, 1, 4), add(0, 2, 3)}, 1, false},
		{"the later one is first", []event{add(1, 1, 2), add(0, 3, 4)}, 2, false},
		{"the last value is another one", []event{add(0, 1, 2)}, 2, false},
		{"one of two has swapped", []event{cas(0, 5, 0, 1, 4), cas(0, 6, 5, 2, 3)}, 5, true},
		{"both have swapped", []event{cas(0, 5, 0, 1, 4), cas(0, 6, 0, 2, 3)}, 6, false},
		{"it has swapped for something else", []event{cas(1, 5, 0, 1, 2)}, 5, false},
		{"it failed without a reason", []event{add(0, 1, 2), cas(1, 5, 1, 3, 4)}, 1, false},
	} {
		if got := linearizable(ops.Uint64, c.events, 0, c.last); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// In each round goroutines call random operations on two neighboring elements. The
// history of each of the two is that of an element alone.
func TestHistoriesOfFetchAndOpAndCompareAndSwapAreLinearizable(t *testing.T) {
	kinds := []ops.Kind{ops.Uint8, ops.Int16, ops.Uint32, ops.Int64, ops.Bool}
	const goroutines, calls, rounds = 4, 6, 60
	for round := range rounds * len(kinds) {
		k := kinds[round%len(kinds)]
		size := k.Size()
		window := alignedBytes(2 * size)
		first := [2]uint64{rawBits(window[:size]), rawBits(window[size:])}
		var clock atomic.Int64
		var histories [goroutines][2][]event
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(g)))
				value, compare, old := make([]byte, size), make([]byte, size), make([]byte, size)
				for range calls {
					which := r.IntN(2)
					dst := window[which*size : (which+1)*size]
					setBits(value, r.Uint64N(2))
					setBits(compare, r.Uint64N(2))
					e := event{value: rawBits(value), compare: rawBits(compare)}
					if r.IntN(2) == 0 {
						e.code = ops.CodeSum + ops.Code(r.IntN(int(ops.CodeNoOp)))
						if _, err := e.code.Op().OnWindow(k); err != nil {
							e.code = ops.CodeNoOp
						}
					}
					e.from = clock.Add(1)
					if e.code == 0 {
						compareAndSwap(k, dst, compare, value, old)
					} else {
						accumulate(e.code, k, dst, value, old)
					}
					e.to = clock.Add(1)
					e.old = rawBits(old)
					histories[g][which] = append(histories[g][which], e)
				}
			})
		}
		all.Wait()
		for which := range 2 {
			var events []event
			for g := range goroutines {
				events = append(events, histories[g][which]...)
			}
			if !linearizable(k, events, first[which], rawBits(window[which*size:(which+1)*size])) {
				t.Fatalf("round %d, element %d of %v: no order of %+v leads to % x", round, which, k, events, window)
			}
		}
	}
}
