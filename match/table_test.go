package match

import (
	"reflect"
	"testing"
)

// Each case posts or queues the first column in order, ids counting from 1, and
// states which id each call of the second then gives, 0 for none.
type call struct {
	ctx      uint32
	src, tag int32
	want     uint32
}

func TestArrivalTakesTheReceivePostedFirst(t *testing.T) {
	type recv struct {
		ctx      uint32
		src, tag int32
	}
	for _, tc := range []struct {
		name  string
		recvs []recv
		msgs  []call
	}{
		{"equal receives match in order", []recv{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}},
			[]call{{1, 2, 3, 1}, {1, 2, 3, 2}, {1, 2, 3, 3}, {1, 2, 3, 0}}},
		{"the all-zero key is a key", []recv{{0, 0, 0}}, []call{{0, 0, 1, 0}, {0, 0, 0, 1}, {0, 0, 0, 0}}},
		{"the all-zero key does not match an unused slot", []recv{{1, 2, 3}}, []call{{0, 0, 0, 0}, {1, 2, 3, 1}}},
		{"contexts are apart", []recv{{1, 2, 3}, {2, AnySource, AnyTag}}, []call{{3, 2, 3, 0}, {2, 2, 3, 2}, {1, 2, 3, 1}}},
		{"an earlier wildcard precedes an exact receive", []recv{{1, AnySource, AnyTag}, {1, 2, 3}},
			[]call{{1, 2, 3, 1}, {1, 2, 3, 2}}},
		{"an earlier exact receive precedes a wildcard", []recv{{1, 2, 3}, {1, AnySource, AnyTag}},
			[]call{{1, 2, 3, 1}, {1, 2, 3, 2}}},
		{"a wildcard leaves what it does not match", []recv{{1, 2, AnyTag}, {1, AnySource, 3}},
			[]call{{1, 9, 9, 0}, {1, 9, 3, 2}, {1, 2, 9, 1}}},
		{"four classes alternate by post order",
			[]recv{{1, AnySource, 3}, {1, 2, AnyTag}, {1, 2, 3}, {1, AnySource, AnyTag}, {1, 2, 3}, {1, AnySource, 3}},
			[]call{{1, 2, 3, 1}, {1, 2, 3, 2}, {1, 2, 3, 3}, {1, 2, 3, 4}, {1, 2, 3, 5}, {1, 2, 3, 6}, {1, 2, 3, 0}}},
		{"other negative tags are ordinary", []recv{{1, 2, -7}, {1, AnySource, -3}},
			[]call{{1, 2, -3, 2}, {1, 2, -7, 1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var tb Table
			for i, r := range tc.recvs {
				tb.Post(r.ctx, r.src, r.tag, uint32(i+1))
			}
			for _, m := range tc.msgs {
				if id, ok := tb.Arrive(m.ctx, m.src, m.tag); id != m.want || ok != (m.want != 0) {
					t.Errorf("Arrive(%d, %d, %d) = %d, %v, want %d", m.ctx, m.src, m.tag, id, ok, m.want)
				}
			}
		})
	}
}

func TestReceiveTakesTheMessageThatArrivedFirst(t *testing.T) {
	for _, tc := range []struct {
		name string
		msgs [][3]int32
		recv []call
	}{
		{"equal messages do not overtake", [][3]int32{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}},
			[]call{{1, 2, 3, 1}, {1, 2, 3, 2}, {1, 2, 3, 3}, {1, 2, 3, 0}}},
		{"the all-zero key is a key", [][3]int32{{0, 0, 0}}, []call{{0, 0, 1, 0}, {0, 1, AnyTag, 0}, {0, 0, 0, 1}, {0, 0, 0, 0}}},
		{"any tag takes the first of its source", [][3]int32{{1, 5, 9}, {1, 2, 9}, {1, 2, 3}},
			[]call{{1, 2, AnyTag, 2}, {1, 2, AnyTag, 3}, {1, 2, AnyTag, 0}, {1, 5, AnyTag, 1}}},
		{"any source takes the first of its tag", [][3]int32{{1, 5, 9}, {1, 2, 3}, {1, 5, 3}},
			[]call{{1, AnySource, 3, 2}, {1, AnySource, 3, 3}, {1, AnySource, 3, 0}, {1, AnySource, 9, 1}}},
		{"any and any take the first of the context", [][3]int32{{2, 5, 9}, {1, 2, 3}, {1, 5, 3}},
			[]call{{1, AnySource, AnyTag, 2}, {1, AnySource, AnyTag, 3}, {1, AnySource, AnyTag, 0}, {2, AnySource, AnyTag, 1}}},
		{"what one class takes is gone for the others", [][3]int32{{1, 2, 3}, {1, 2, 4}, {1, 5, 3}},
			[]call{{1, AnySource, 3, 1}, {1, 2, AnyTag, 2}, {1, 2, 4, 0}, {1, AnySource, AnyTag, 3}, {1, 5, 3, 0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var tb Table
			for i, m := range tc.msgs {
				tb.AddUnexpected(uint32(m[0]), m[1], m[2], uint32(i+1))
			}
			for _, r := range tc.recv {
				peek, _ := tb.PeekUnexpected(r.ctx, r.src, r.tag)
				id, ok := tb.TakeUnexpected(r.ctx, r.src, r.tag)
				if id != r.want || ok != (r.want != 0) || peek != r.want {
					t.Errorf("TakeUnexpected(%d, %d, %d) = %d, %v (peek %d), want %d", r.ctx, r.src, r.tag, id, ok, peek, r.want)
				}
			}
		})
	}
}

func TestEntriesGoStale(t *testing.T) {
	var tb Table
	a := tb.Post(1, 2, 3, 10)
	tb.Arrive(1, 2, 3)
	b := tb.Post(1, 2, 3, 11) // in the slot that a had
	if id, ok := tb.Withdraw(a); ok {
		t.Errorf("a receive that matched was withdrawn as %d", id)
	}
	if _, ok := tb.Withdraw(0); ok {
		t.Error("the zero Entry named something")
	}
	if _, ok := tb.Withdraw(1 << 63); ok {
		t.Error("an Entry beyond the slab named something")
	}
	if id, ok := tb.Withdraw(b); !ok || id != 11 {
		t.Errorf("Withdraw = %d, %v, want 11", id, ok)
	}
	if id, ok := tb.Withdraw(b); ok {
		t.Errorf("withdrawn twice, as %d", id)
	}
	var empty Table
	if _, ok := empty.DropUnexpected(b); ok {
		t.Error("an empty table held something")
	}
}

func TestEachMayRemoveWhatItVisits(t *testing.T) {
	var tb Table
	const n = 200
	for i := range int32(n) {
		tb.Post(1, i%4, AnyTag, 0)
		tb.AddUnexpected(1, i%4, i, 0)
	}
	tb.PeekUnexpected(1, AnySource, AnyTag)
	dead := func(remove func(Entry) (uint32, bool)) func(e Entry, ctx uint32, src, tag int32, id uint32) bool {
		return func(e Entry, _ uint32, src, _ int32, _ uint32) bool {
			if src == 2 {
				if _, ok := remove(e); !ok {
					t.Error("Each showed an entry that is not there")
				}
			}
			return true
		}
	}
	tb.EachPosted(dead(tb.Withdraw))
	tb.EachUnexpected(dead(tb.DropUnexpected))
	if tb.Posted() != n*3/4 || tb.Unexpected() != n*3/4 {
		t.Errorf("left %d and %d, want %d", tb.Posted(), tb.Unexpected(), n*3/4)
	}
	if err := tb.check(); err != nil {
		t.Error(err)
	}
	calls := 0
	tb.EachPosted(func(Entry, uint32, int32, int32, uint32) bool { calls++; return calls < 3 })
	if calls != 3 {
		t.Errorf("f was called %d times after asking to stop at 3", calls)
	}
}

func TestIndicesOutliveAnEmptyQueueWhileInUse(t *testing.T) {
	var tb Table
	turn := func(src int32) {
		tb.AddUnexpected(1, 2, 3, 0)
		if _, ok := tb.TakeUnexpected(1, src, 3); !ok {
			t.Fatal("lost a message")
		}
	}
	turn(AnySource)
	turn(2)
	if tb.unexpected.kept != 1<<anySrc {
		t.Errorf("kept %b after a turn without use", tb.unexpected.kept)
	}
	for range len(tb.unexpected.e) {
		turn(2)
	}
	if tb.unexpected.kept != 0 {
		t.Errorf("kept %b after many turns without use", tb.unexpected.kept)
	}
	turn(AnySource)
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	var tb Table
	turn := func() {
		var kept [2]Entry
		for i := range int32(300) {
			tb.Post(1, i%7, i*1024, 0)
			tb.Post(1, AnySource, i, 0)
			tb.Post(1, i, AnyTag, 0)
			kept[0] = tb.Post(2, AnySource, AnyTag, 0)
			tb.AddUnexpected(1, i%7, i*1024, 0)
			kept[1] = tb.AddUnexpected(1, i%7, 5, 0)
		}
		tb.Withdraw(kept[0])
		tb.DropUnexpected(kept[1])
		for i := range int32(300) {
			tb.Arrive(1, i%7, i*1024)
			tb.Arrive(1, 999, i)
			tb.Arrive(1, i, 1<<30)
			tb.Arrive(2, i, i)
			tb.TakeUnexpected(1, i%7, i*1024)
			tb.PeekUnexpected(1, AnySource, 5)
			tb.TakeUnexpected(1, i%7, AnyTag)
		}
		for _, ok := tb.TakeUnexpected(1, AnySource, AnyTag); ok; {
			_, ok = tb.TakeUnexpected(1, AnySource, AnyTag)
		}
		// Builds all indices again next time.
		tb.unexpected.kept = 0
	}
	turn()
	if n := testing.AllocsPerRun(20, turn); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
	if tb.Posted() != 0 || tb.Unexpected() != 0 {
		t.Errorf("left %d and %d", tb.Posted(), tb.Unexpected())
	}
}

func TestTwoEntriesFillACacheLine(t *testing.T) {
	if n := reflect.TypeFor[entry]().Size(); n != 32 {
		t.Errorf("an entry has %d bytes", n)
	}
}
