package timeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
	"pgregory.net/rapid"
)

// event is an event as a viewer reads it.
type event struct {
	Ph, Cat, Name, ID, BP string
	Pid, Tid              int64
	Ts, Dur               float64
	Args                  map[string]any
}

func decode(t interface {
	Fatalf(string, ...any)
	Helper()
}, part []byte) (all []event) {
	t.Helper()
	if err := json.Unmarshal(append(append([]byte("["), part...), ']'), &all); err != nil {
		t.Fatalf("%v in %s", err, part)
	}
	return all
}

var still = Clock{} // that of the process itself

func TestALogKeepsTheLastSpans(t *testing.T) {
	l := NewLog(3)
	for i := range 5 {
		l.Add(Span{Kind: Op, Begin: int64(i)})
	}
	all, names, dropped := l.Spans()
	begins := []int64{}
	for _, s := range all {
		begins = append(begins, s.Begin)
	}
	if !slices.Equal(begins, []int64{2, 3, 4}) || dropped != 2 || !slices.Equal(names, []string{"other"}) {
		t.Errorf("the spans of %v, %d dropped, names %v", begins, dropped, names)
	}
	info, part := l.Part(Info{Rank: 7}, still)
	if info.Spans != 3 || info.Dropped != 2 || info.Limit != 3 || !strings.Contains(string(part), "2 earlier spans were dropped") {
		t.Errorf("%+v: %s", info, part)
	}
	var none *Log
	none.Add(Span{})
}

func TestNamesAreFewAndKept(t *testing.T) {
	l := NewLog(1)
	a := l.Name(`a "name" \ of two` + "\nlines")
	if a == 0 || l.Name("b") == a || l.Name(`a "name" \ of two`+"\nlines") != a {
		t.Error("names are mixed up")
	}
	l.Add(Span{Kind: Op, Begin: 1, End: 2, Name: a, Peer: -1})
	_, part := l.Part(Info{}, still)
	if all := decode(t, part); !slices.ContainsFunc(all, func(e event) bool { return e.Name == "a \"name\" \\ of two\nlines" }) {
		t.Errorf("the name is not in %s", part)
	}
	for i := range 2 * mostNames {
		l.Name(fmt.Sprint(i))
	}
	if _, names, _ := l.Spans(); len(names) != mostNames || l.Name("late") != 0 {
		t.Errorf("there are %d names", len(names))
	}
}

func TestGoroutinesRecordAtOnce(t *testing.T) {
	l := NewLog(1 << 10)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for range 100 {
				l.Add(Span{Kind: Wait, Name: l.Name(fmt.Sprint("goroutine ", g)), Seq: l.NextWait()})
			}
		})
	}
	wg.Wait()
	all, names, _ := l.Spans()
	seen := map[uint64]bool{}
	for _, s := range all {
		seen[s.Seq] = true
	}
	if len(all) != 400 || len(seen) != 400 || len(names) != 5 {
		t.Errorf("%d spans of %d waits with %d names", len(all), len(seen), len(names))
	}
}

func TestAMessageHasItsPhasesAndItsArrow(t *testing.T) {
	for _, c := range []struct {
		name   string
		s      Span
		phases []string
		ph     string
		at     float64 // of the arrow's end, in microseconds
	}{
		{"a short send", Span{Kind: Send, Begin: 1000, End: 2000}, nil, "s", 1},
		{"a send that waits for room", Span{Kind: Send, Begin: 1000, End: 2000, Announced: 1500}, []string{"queued 1 0.5", "eager 1.5 0.5"}, "s", 1},
		{"a send whose bytes its rank writes", Span{Kind: Send, Begin: 1000, End: 4000, Announced: 2000, Moving: 3000}, []string{"queued 1 1", "announced 2 1", "eager 3 1"}, "s", 1},
		{"a receive", Span{Kind: Recv, Begin: 1000, End: 3000, Announced: 2000}, []string{"posted 1 1"}, "f", 2},
		{"a receive that reads", Span{Kind: Recv, Begin: 1000, End: 5000, Announced: 2000, Moving: 3000}, []string{"posted 1 1", "matched 2 1", "eager 3 2"}, "f", 2},
		{"a receive of what is here", Span{Kind: Recv, Begin: 3000, End: 4000, Announced: 2000}, nil, "f", 3},
		{"a receive that took no time", Span{Kind: Recv, Begin: 3000, End: 3000, Announced: 3000}, nil, "f", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewLog(1)
			c.s.Peer, c.s.Seq, c.s.Tag, c.s.Bytes, c.s.Path = 2, 5, 9, 8, l.Name("eager")
			l.Add(c.s)
			_, part := l.Part(Info{Rank: 3}, still)
			var phases []string
			whole, arrows := 0, 0
			for _, e := range decode(t, part) {
				switch {
				case e.Ph == "X" && e.Args != nil:
					whole++
					unexpected, late := e.Args["unexpected_us"]
					if e.Args["peer"] != 2.0 || e.Args["tag"] != 9.0 || e.Args["message"] != 5.0 || e.Args["protocol"] != "eager" || e.Pid != 4 ||
						late != (c.s.Kind == Recv && c.s.Announced < c.s.Begin) || late && unexpected != 1.0 {
						t.Errorf("the message is %+v", e)
					}
				case e.Ph == "X":
					phases = append(phases, fmt.Sprint(e.Name, " ", e.Ts, " ", e.Dur))
				case e.Ph != "M":
					arrows++
					want := flow(3, 2, 5)
					if c.ph == "f" {
						want = flow(2, 3, 5)
					}
					if e.Ph != c.ph || e.ID != fmt.Sprintf("0x%x", want) || e.Ts != c.at || (e.BP == "e") != (c.ph == "f") {
						t.Errorf("the arrow's end is %+v", e)
					}
				}
			}
			if whole != 1 || arrows != 1 || !slices.Equal(phases, c.phases) {
				t.Errorf("%d messages, %d ends of arrows, phases %q", whole, arrows, phases)
			}
		})
	}
}

// Whatever overlaps, slices of a row nest.
func TestSlicesOfARowNest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := NewLog(1000)
		contexts := rapid.Uint32Range(1, 3)
		for range rapid.IntRange(0, 60).Draw(t, "spans") {
			s := Span{Kind: Kind(rapid.IntRange(int(Send), int(Look)-1).Draw(t, "kind")), Begin: rapid.Int64Range(0, 100).Draw(t, "begin"), Peer: 1, Context: contexts.Draw(t, "context")}
			s.End = s.Begin + rapid.Int64Range(0, 40).Draw(t, "length")
			s.Announced, s.Moving = rapid.Int64Range(0, 140).Draw(t, "announced"), rapid.Int64Range(0, 140).Draw(t, "moving")
			if s.Kind == Park { // sleeps lie in their wait, and the waits of a call in it
				continue
			}
			s.Seq = l.NextWait()
			l.Add(s)
			if s.Kind == Wait && s.End > s.Begin {
				from := rapid.Int64Range(s.Begin, s.End-1).Draw(t, "asleep")
				l.Add(Span{Kind: Park, Begin: from, End: rapid.Int64Range(from+1, s.End).Draw(t, "awake"), Seq: s.Seq})
			}
		}
		_, part := l.Part(Info{}, still)
		rows := map[int64][][2]int64{}
		for _, e := range decode(t, part) {
			if e.Ph == "X" {
				begin := int64(math.Round(e.Ts * 1000))
				rows[e.Tid] = append(rows[e.Tid], [2]int64{begin, begin + int64(math.Round(e.Dur*1000))})
			}
		}
		for tid, row := range rows {
			slices.SortStableFunc(row, func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(b[1], a[1])) })
			var open []int64
			for _, s := range row {
				for len(open) > 0 && open[len(open)-1] <= s[0] {
					open = open[:len(open)-1]
				}
				if len(open) > 0 && open[len(open)-1] < s[1] {
					t.Fatalf("row %d: the slice from %d to %d begins in one that ends at %d", tid, s[0], s[1], open[len(open)-1])
				}
				open = append(open, s[1])
			}
		}
	})
}

func TestWhatACallWaitsForLiesInIt(t *testing.T) {
	l := NewLog(10)
	barrier := l.Name("Barrier")
	l.Add(Span{Kind: Park, Begin: 30, End: 40, Seq: 1})
	l.Add(Span{Kind: Wait, Begin: 20, End: 50, Context: 1, Seq: 1, Name: barrier, Peer: -1})
	l.Add(Span{Kind: Wait, Begin: 25, End: 45, Context: 0, Seq: 2, Name: barrier, Peer: -1}) // another goroutine's
	l.Add(Span{Kind: Call, Begin: 10, End: 60, Context: 1, Name: barrier, Peer: -1})
	_, part := l.Part(Info{}, still)
	rows := map[int64]int{}
	for _, e := range decode(t, part) {
		if e.Ph == "X" {
			rows[e.Tid]++
		}
	}
	if len(rows) != 2 || rows[rowsOfRank] != 3 || rows[rowsOfRank+1] != 1 {
		t.Errorf("slices by row: %v", rows)
	}
}

func TestClocksAreLines(t *testing.T) {
	c := Clock{At: [2]int64{1000, 3000}, Add: [2]int64{50, 150}}
	for at, want := range map[int64]int64{1000: 1050, 2000: 2100, 3000: 3150, 5000: 5250, 0: 0} {
		if got := c.To(at); got != want {
			t.Errorf("%d is %d, want %d", at, got, want)
		}
	}
	if got := (Clock{At: [2]int64{5, 5}, Add: [2]int64{7, 7}}).To(1); got != 8 {
		t.Errorf("with one reading 1 is %d", got)
	}
	at, add, within, ok := Best([]Reading{{0, 100, 1050}, {200, 210, 1206}, {300, 340, 1330}})
	if !ok || at != 205 || add != 1001 || within != 5 {
		t.Errorf("the best reading is %d at %d, within %d", add, at, within)
	}
	if _, _, _, ok := Best(nil); ok {
		t.Error("there is a best of no readings")
	}
	add, within = Monotonic()
	if got := Monotone() - Now() - add; got < -within-1_000_000_000 || got > within+1_000_000_000 {
		t.Errorf("CLOCK_MONOTONIC is %d off", got)
	}
}

// wholeFile is a file with the parts of some ranks.
func wholeFile(t *testing.T, ranks ...int) io.Reader {
	t.Helper()
	var b bytes.Buffer
	f := NewFile(&b)
	for _, r := range ranks {
		if r < 0 {
			f.Add(Info{Rank: -r, Absent: "it has died"}, nil)
			continue
		}
		l := NewLog(10)
		l.Add(Span{Kind: Op, Begin: 1, End: 2, Peer: -1})
		f.Add(l.Part(Info{Rank: r}, still))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestMergeTakesEachRankOnce(t *testing.T) {
	var b bytes.Buffer
	ranks, err := Merge(&b, wholeFile(t, 0, -1, -2, -3), wholeFile(t, 2), wholeFile(t, 1, 0))
	if err != nil || !slices.Equal(ranks, []int{0, 1, 2}) {
		t.Fatalf("%v, %v", ranks, err)
	}
	var f file
	if err := json.Unmarshal(b.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	slicesOf := map[int64]int{}
	for _, raw := range f.Events {
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		if e.Ph == "X" {
			slicesOf[e.Pid]++
		}
	}
	if len(slicesOf) != 3 || slicesOf[1] != 1 || slicesOf[2] != 1 || slicesOf[3] != 1 {
		t.Errorf("slices by process: %v", slicesOf)
	}
	if len(f.Other.Ranks) != 4 || f.Other.Ranks[3].Absent == "" || f.Other.Ranks[1].Absent != "" {
		t.Errorf("the ranks are %+v", f.Other.Ranks)
	}
	for _, bad := range []string{"", "{", "{}", `{"traceEvents":[]}`, `{"traceEvents":[7],"otherData":{"ranks":[{"rank":0}]}}`} {
		if _, err := Merge(io.Discard, strings.NewReader(bad)); err == nil {
			t.Errorf("%q is a trace", bad)
		}
	}
}
