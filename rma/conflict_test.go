package rma

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/internal/op"
)

// heard is what a target hears in a row of the table.
type heard func(l *ledger) []clash

func by(origin int, e accessEpoch, c accessCall, code op.Code, k op.Kind, at, n uint64) heard {
	return func(l *ledger) []clash {
		return l.access(access{origin: origin, call: c, code: code, kind: k, epoch: e, phase: l.phase}, at, n)
	}
}

func puts(origin int, e accessEpoch, at, n uint64) heard {
	return by(origin, e, accessPut, 0, 0, at, n)
}
func gets(origin int, e accessEpoch, at, n uint64) heard {
	return by(origin, e, accessGet, 0, 0, at, n)
}
func sums(origin int, e accessEpoch, at, n uint64) heard {
	return by(origin, e, accessAccumulate, op.CodeSum, op.Int64, at, n)
}
func peeks(origin int, e accessEpoch, at, n uint64) heard {
	return by(origin, e, accessFetch, op.CodeNoOp, op.Int64, at, n)
}
func swaps(origin int, e accessEpoch, at uint64) heard {
	return by(origin, e, accessSwap, 0, op.Int64, at, 8)
}
func stores(at, n uint64) heard {
	return func(l *ledger) []clash {
		return l.stores(access{origin: 9, call: accessStore}, spans{{at, at + n}}, false)
	}
}
func storesBeforeFence(at, n uint64) heard {
	return func(l *ledger) []clash {
		return l.stores(access{origin: 9, call: accessStore}, spans{{at, at + n}}, true)
	}
}
func flushes(origin int) heard {
	return func(l *ledger) []clash { l.flushed(origin, false); return nil }
}
func returned(origin int) heard {
	return func(l *ledger) []clash { l.flushed(origin, true); return nil }
}
func dies(origin int) heard { return func(l *ledger) []clash { l.lost(origin); return nil } }
func hint(r opsRule) heard  { return func(l *ledger) []clash { l.rule = r; return nil } }

var (
	waits    heard = func(l *ledger) []clash { l.waited(); return nil }
	fences   heard = func(l *ledger) []clash { l.fenced(l.phase + 1); return nil }
	acquires heard = func(l *ledger) []clash { l.seen(); return nil }
)

// The rules of MPI-4.0 §12.7: 1 to 4 say when an operation ends, 5 and 6 when an update
// is visible, S1 to S3 which accesses are defined. fine is a row without a conflict;
// else the last step conflicts, and only that one.
func TestAccessesConflictAsTheRulesSay(t *testing.T) {
	const fine = ""
	for _, c := range []struct {
		rule, name string
		steps      []heard
		want       string // calls and bytes of the conflict
	}{
		{"S2", "Put and Put of two ranks", []heard{puts(1, inFence, 0, 8), puts(2, inFence, 4, 8)}, "1 1 4-8"},
		{"S2", "Put and Put of one rank", []heard{puts(1, inLock, 0, 8), puts(1, inLock, 7, 1)}, "1 1 7-8"},
		{"S2", "Put and Get", []heard{puts(1, inStart, 0, 8), gets(2, inStart, 0, 4)}, "1 2 0-4"},
		{"S2", "Get and Put", []heard{gets(1, inLock, 8, 8), puts(2, inLock, 0, 9)}, "2 1 8-9"},
		{"S2", "Get and Get", []heard{gets(1, inFence, 0, 8), gets(2, inFence, 0, 8)}, fine},
		{"S2", "Put beside Put", []heard{puts(1, inFence, 0, 8), puts(2, inFence, 8, 8), puts(3, inFence, 24, 8), puts(2, inFence, 16, 8)}, fine},
		{"S2", "Put of nothing within Put", []heard{puts(1, inFence, 0, 8), puts(2, inFence, 4, 0)}, fine},
		{"S2", "Put and Accumulate", []heard{puts(1, inFence, 0, 8), sums(2, inFence, 0, 8)}, "1 3 0-8"},
		{"S2", "Accumulate and Get", []heard{sums(1, inLock, 0, 16), gets(2, inLock, 8, 8)}, "3 2 8-16"},
		{"S2", "Get and a fetch that changes nothing", []heard{gets(1, inLock, 0, 8), peeks(2, inLock, 0, 8)}, fine},
		{"S2", "such a fetch and Put", []heard{peeks(1, inLock, 0, 8), puts(2, inLock, 0, 8)}, "4 1 0-8"},

		{"S2, exception", "accumulates of one type", []heard{sums(1, inFence, 0, 64), sums(2, inFence, 0, 64), sums(1, inFence, 8, 8)}, fine},
		{"S2, exception", "accumulates of two types", []heard{sums(1, inFence, 0, 8), by(2, inFence, accessAccumulate, op.CodeSum, op.Uint64, 0, 8)}, "3 3 0-8"},
		{"S2, exception", "accumulates of parts of an element", []heard{sums(1, inFence, 0, 8), sums(2, inFence, 4, 8)}, "3 3 4-8"},
		{"S2, exception", "a fetch that changes nothing, of another type", []heard{sums(1, inFence, 0, 8), by(2, inFence, accessFetch, op.CodeNoOp, op.Int32, 4, 4)}, "3 4 4-8"},
		{"S2, exception", "accumulates of two operators", []heard{sums(1, inFence, 0, 8), by(2, inFence, accessAccumulate, op.CodeProd, op.Int64, 0, 8), swaps(1, inFence, 0)}, fine},
		{"accumulate_ops", "two operators with same_op", []heard{hint(opsSame), sums(1, inFence, 0, 8), by(2, inFence, accessAccumulate, op.CodeProd, op.Int64, 0, 8)}, "3 3 0-8"},
		{"accumulate_ops", "one operator with same_op", []heard{hint(opsSame), sums(1, inFence, 0, 8), by(2, inFence, accessFetch, op.CodeSum, op.Int64, 0, 8)}, fine},
		{"accumulate_ops", "NoOp with same_op", []heard{hint(opsSame), sums(1, inFence, 0, 8), peeks(2, inFence, 0, 8)}, "3 4 0-8"},
		{"accumulate_ops", "NoOp with same_op_no_op", []heard{hint(opsSameOrNone), sums(1, inFence, 0, 8), peeks(2, inFence, 0, 8)}, fine},
		{"accumulate_ops", "two operators with same_op_no_op", []heard{hint(opsSameOrNone), sums(1, inFence, 0, 8), by(2, inFence, accessFetch, op.CodeReplace, op.Int64, 0, 8)}, "3 4 0-8"},
		{"accumulate_ops", "swaps with same_op", []heard{hint(opsSame), swaps(1, inLock, 0), swaps(2, inLock, 0)}, fine},
		{"accumulate_ops", "a swap and a sum with same_op_no_op", []heard{hint(opsSameOrNone), swaps(1, inLock, 0), sums(2, inLock, 0, 8)}, "5 3 0-8"},

		{"2", "a fence ends all", []heard{puts(1, inFence, 0, 8), gets(2, inFence, 8, 8), fences, puts(2, inFence, 0, 16)}, fine},
		{"2", "a flush ends nothing of a fence's epoch", []heard{puts(1, inFence, 0, 8), flushes(1), puts(2, inFence, 0, 8)}, "1 1 0-8"},
		{"2", "an access behind a fence of which the target does not know", []heard{puts(1, inFence, 0, 8), func(l *ledger) []clash {
			return l.access(access{origin: 2, call: accessPut, phase: 1}, 0, 8)
		}}, fine},
		{"3", "Wait ends what is between Start and Complete", []heard{puts(1, inStart, 0, 8), waits, puts(2, inStart, 0, 8)}, fine},
		{"3", "Complete does not", []heard{puts(1, inStart, 0, 8), flushes(1), puts(2, inStart, 0, 8)}, "1 1 0-8"},
		{"3", "Wait ends nothing under locks", []heard{puts(1, inLock, 0, 8), waits, puts(2, inLock, 0, 8)}, "1 1 0-8"},
		{"4", "Flush ends a Put", []heard{puts(1, inLock, 0, 8), flushes(1), puts(2, inLock, 0, 8)}, fine},
		{"4", "a Flush of another rank does not", []heard{puts(1, inLock, 0, 8), flushes(2), puts(2, inLock, 0, 8)}, "1 1 0-8"},
		{"1", "FlushLocal ends a Get", []heard{gets(1, inLock, 0, 8), returned(1), puts(2, inLock, 0, 8)}, fine},
		{"4", "FlushLocal does not end a Put", []heard{puts(1, inLock, 0, 8), returned(1), gets(2, inLock, 0, 8)}, "1 2 0-8"},
		{"1", "a Get with a request ends at once", []heard{gets(1, atOnce, 0, 8), puts(2, inLock, 0, 8)}, fine},
		{"1", "but what it meets conflicts", []heard{puts(2, inLock, 0, 8), gets(1, atOnce, 0, 8)}, "1 2 0-8"},
		{"death", "a dead rank's accesses have ended", []heard{puts(1, inFence, 0, 8), dies(1), puts(2, inFence, 0, 8)}, fine},

		{"S1, S3", "a store where a Put is under way", []heard{puts(1, inFence, 0, 8), stores(7, 2)}, "1 6 7-8"},
		{"S1, 6", "a store where a Put has ended and is not visible", []heard{puts(1, inLock, 0, 8), flushes(1), stores(0, 1)}, "1 6 0-1"},
		{"S1, 6", "a store where it is", []heard{puts(1, inLock, 0, 8), flushes(1), acquires, stores(0, 1)}, fine},
		{"S1, 6", "a Put that has not ended is not visible", []heard{puts(1, inLock, 0, 8), acquires, stores(0, 1)}, "1 6 0-1"},
		{"S1, 6", "a swap with a request is not visible before its flush", []heard{swaps(1, atOnce, 0), acquires, stores(0, 1)}, "5 6 0-1"},
		{"S1, 6", "a swap with a request is behind it", []heard{swaps(1, atOnce, 0), flushes(1), acquires, stores(0, 1)}, fine},
		{"S2", "a store where a Get is under way", []heard{gets(1, inStart, 0, 8), stores(0, 8)}, "2 6 0-8"},
		{"S2", "a store where a Get has ended", []heard{gets(1, inStart, 0, 8), waits, stores(0, 8)}, fine},
		{"S3", "a store beside a Put", []heard{puts(1, inFence, 0, 8), stores(8, 8)}, fine},
		{"S2, 5", "a Get where this rank has stored before the same fence", []heard{storesBeforeFence(0, 8), gets(1, inFence, 0, 8)}, "6 2 0-8"},
		{"S2, 5", "a Get behind that fence", []heard{storesBeforeFence(0, 8), fences, gets(1, inFence, 0, 8)}, fine},
		{"S2, 5", "a Get where this rank has stored before an Unlock", []heard{stores(0, 8), gets(1, inLock, 0, 8)}, fine},
	} {
		t.Run(c.rule+": "+c.name, func(t *testing.T) {
			l := &ledger{}
			for i, step := range c.steps {
				got := ""
				for _, k := range step(l) {
					got += fmt.Sprintf("%d %d %d-%d", k.first.call, k.second.call, k.span.at, k.span.end)
				}
				want := ""
				if i == len(c.steps)-1 {
					want = c.want
				}
				if got != want {
					t.Errorf("step %d finds %q, want %q", i, got, want)
				}
			}
		})
	}
}

// What has changed is handed out once, joined, and without what has been detached.
func TestWhatHasChangedIsSeenOnce(t *testing.T) {
	l := &ledger{}
	for _, h := range []heard{puts(1, inLock, 0, 8), puts(2, inLock, 8, 8), gets(1, inLock, 32, 8), sums(2, inLock, 40, 8), puts(3, inLock, 64, 8)} {
		if all := h(l); all != nil {
			t.Fatal(all)
		}
	}
	l.flushed(1, false)
	l.flushed(2, false)
	l.forget(4, 8)
	if got, want := l.seen(), (spans{{0, 4}, {12, 16}, {40, 48}}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := l.seen(); got != nil {
		t.Errorf("%v again", got)
	}
	l.flushed(3, false)
	if got, want := l.seen(), (spans{{64, 72}}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Spans are what a set of bytes says.
func TestSpansAreSetsOfBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		const size = 24
		var all spans
		var bytes [size]bool
		for range 1 + r.IntN(8) {
			at := r.IntN(size)
			end := at + 1 + r.IntN(size-at)
			s, in := span{uint64(at), uint64(end)}, r.IntN(3) > 0
			if in {
				all.add(s)
			} else {
				all.cut(s)
			}
			for i := at; i < end; i++ {
				bytes[i] = in
			}
		}
		var want spans
		for i := 0; i < size; i++ {
			if k := i; bytes[i] {
				for i < size && bytes[i] {
					i++
				}
				want = append(want, span{uint64(k), uint64(i)})
			}
		}
		if !slices.Equal(all, want) {
			t.Fatalf("%v, want %v", all, want)
		}
		at := r.IntN(size)
		end := at + 1 + r.IntN(size-at)
		first := slices.Index(bytes[at:end], true)
		got, overlap := all.meet(span{uint64(at), uint64(end)})
		if overlap != (first >= 0) || overlap && (got.at != uint64(at+first) || !bytes[got.end-1] || int(got.end) < end && bytes[got.end]) {
			t.Fatalf("%v meets %d to %d at %v, %t", all, at, end, got, overlap)
		}
	}
}

// A ledger of too many lines stays of bounded size, and forgets no update.
func TestALedgerIsOfBoundedSize(t *testing.T) {
	l := &ledger{}
	const n = mostClasses + 100
	for i := range uint64(n) {
		l.access(access{origin: 1, call: accessPut, epoch: inLock, line: fmt.Sprint(i)}, 8*i, 4)
		if i%1000 == 999 || i == n-1 {
			l.flushed(1, false)
		}
	}
	if len(l.open) > mostClasses || len(l.done) > mostClasses {
		t.Errorf("%d open classes, %d that have ended", len(l.open), len(l.done))
	}
	if got := len(l.seen()); got != n {
		t.Errorf("%d updates are seen, want %d", got, n)
	}
	for i := range uint64(n) {
		l.access(access{origin: 1, call: accessPut, epoch: inLock, line: fmt.Sprint(i)}, 8*i, 4)
	}
	if len(l.open) != mostClasses {
		t.Errorf("%d open classes", len(l.open))
	}
}
