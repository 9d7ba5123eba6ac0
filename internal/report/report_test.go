package report

import (
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// ringOf is a ring of ranks, each in an operation with the next.
func ringOf(whats ...pt2pt.What) (r pt2pt.Ring) {
	for i, what := range whats {
		r.Ranks = append(r.Ranks, i)
		r.Waits = append(r.Waits, pt2pt.Wait{What: what, Peer: (i + 1) % len(whats), Tag: 5, Bytes: 8})
	}
	return r
}

func TestADiagnosisNamesTheCause(t *testing.T) {
	receive := pt2pt.Pending{What: pt2pt.Receive, Peer: 1, Tag: 5, Context: 4, Bytes: 8, Blocked: true, State: unmatched}
	arrived := func(peer, tag int32, context uint32) pt2pt.Pending {
		return pt2pt.Pending{What: pt2pt.Unexpected, Peer: int(peer), Tag: tag, Context: context, Bytes: 24, State: "is here"}
	}
	anyTag := receive
	anyTag.Tag = pt2pt.AnyTag
	for name, c := range map[string]struct {
		pending []pt2pt.Pending
		told    []pt2pt.Told
		ring    pt2pt.Ring
		want    string // one sentence, or "" for none
	}{
		"nothing waits":            {},
		"another tag":              {[]pt2pt.Pending{receive, arrived(1, 7, 4)}, nil, pt2pt.Ring{}, "a message from rank 1 with tag 7 (24 bytes) is here"},
		"another source":           {[]pt2pt.Pending{receive, arrived(2, 5, 4)}, nil, pt2pt.Ring{}, "a message from rank 2 with the same tag is here"},
		"another communicator":     {[]pt2pt.Pending{receive, arrived(1, 5, 6)}, nil, pt2pt.Ring{}, "the same tag on another communicator (context 6)"},
		"a collective's message":   {[]pt2pt.Pending{receive, arrived(1, 5, 7)}, nil, pt2pt.Ring{}, "(a collective call on context 6)"},
		"any tag of another rank":  {[]pt2pt.Pending{anyTag, arrived(2, 7, 4)}, nil, pt2pt.Ring{}, "with the same tag"},
		"it has come meanwhile":    {[]pt2pt.Pending{receive, arrived(1, 5, 4)}, nil, pt2pt.Ring{}, ""},
		"two differences":          {[]pt2pt.Pending{receive, arrived(2, 7, 4)}, nil, pt2pt.Ring{}, ""},
		"the peer computes":        {[]pt2pt.Pending{receive}, []pt2pt.Told{{From: 1}}, pt2pt.Ring{}, "rank 1 is not blocked in any operation"},
		"the peer waits for us":    {[]pt2pt.Pending{receive}, []pt2pt.Told{{From: 1, Waits: []pt2pt.Wait{{What: pt2pt.Send, Peer: 2}, {What: pt2pt.Receive, Peer: 0}}}}, pt2pt.Ring{}, "rank 1 waits for this rank: receive from rank 0"},
		"the peer waits elsewhere": {[]pt2pt.Pending{receive}, []pt2pt.Told{{From: 1, Waits: []pt2pt.Wait{{What: pt2pt.Send, Peer: 2}}}}, pt2pt.Ring{}, "rank 1 itself waits: send to rank 2"},
		"nobody asked for it":      {[]pt2pt.Pending{receive}, []pt2pt.Told{{From: 3}}, pt2pt.Ring{}, ""},
		"two receive":              {nil, nil, ringOf(pt2pt.Receive, pt2pt.Receive), "ranks 0 and 1 wait to receive from each other, and neither sends: deadlock"},
		"three send":               {nil, nil, ringOf(pt2pt.Send, pt2pt.Send, pt2pt.Send), "ranks 0, 1 and 2 wait for one another's receive, all are blocked in a send: deadlock"},
		"one sends, one receives":  {nil, nil, ringOf(pt2pt.Send, pt2pt.Receive), "ranks 0 and 1 wait for each other: deadlock"},
	} {
		words := diagnose(0, c.pending, c.told, c.ring)
		switch {
		case c.want == "" && len(words) > 0:
			t.Errorf("%s: %q, want nothing", name, words)
		case c.want != "" && (len(words) != 1 || !strings.Contains(words[0], c.want)):
			t.Errorf("%s: %q, want %q", name, words, c.want)
		}
	}
}

// A sentence stands once, and no report grows without bound.
func TestAReportIsBounded(t *testing.T) {
	var pending []pt2pt.Pending
	var told []pt2pt.Told
	for i := range 3 * most {
		pending = append(pending, pt2pt.Pending{What: pt2pt.Receive, Peer: i, Blocked: true})
		told = append(told, pt2pt.Told{From: i}, pt2pt.Told{From: i})
	}
	words := diagnose(0, pending, told, pt2pt.Ring{})
	text := describe(Who{Rank: 1, Size: 2, Fabric: "mem"}, pending, words)
	if len(words) != most || strings.Count(text, "rank 7 is not blocked") != 1 || strings.Count(text, "\n") != 2*most+2 ||
		!strings.Contains(text, "rank 1 of 2 (process ") || !strings.Contains(text, "and 80 more") {
		t.Errorf("%d sentences, in\n%s", len(words), text)
	}
	if text := describe(Who{}, nil, nil); !strings.HasSuffix(text, "nothing waits\n") {
		t.Errorf("of nothing the report is %q", text)
	}
}

// What has changed between two looks was about to go on.
func TestOnlyWhatLastsIsDiagnosed(t *testing.T) {
	a := pt2pt.Pending{What: pt2pt.Receive, Op: 1, State: unmatched, Blocked: true}
	ended, moved, left := a, a, a
	ended.Op, moved.Op, left.Op = 2, 3, 4
	movedNow, leftNow := moved, left
	movedNow.State, leftNow.Blocked = "bytes are on their way", false
	got := lasting([]pt2pt.Pending{a, ended, moved, left}, []pt2pt.Pending{leftNow, movedNow, a})
	if len(got) != 1 || got[0] != a {
		t.Errorf("%v has lasted, want %v", got, a)
	}
}

func TestAPlaceIsOutsideOfTheEngine(t *testing.T) {
	var here [1]uintptr
	runtime.Callers(1, here[:])
	within := func(f any) uintptr { return reflect.ValueOf(f).Pointer() + 1 }
	for name, pcs := range map[string][3]uintptr{
		"at once":           {here[0]},
		"below the engine":  {within(pt2pt.New), within(progress.New), here[0]},
		"before the engine": {here[0], within(pt2pt.New)},
	} {
		if at := Place(pcs); !strings.HasPrefix(at, module+"internal/report.TestAPlaceIsOutsideOfTheEngine at ") || !strings.Contains(at, "report_test.go:") {
			t.Errorf("%s: the place is %q", name, at)
		}
	}
	for _, pcs := range [][3]uintptr{{}, {within(pt2pt.New)}} {
		if at := Place(pcs); at != "" {
			t.Errorf("a place that is not known is %q", at)
		}
	}
}

func TestTheWatchdogReportsEachOperationOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now := []uint64{1}
		var late []time.Duration
		start := time.Now()
		d := Watch(time.Second, func(each func(uint64)) {
			mu.Lock()
			defer mu.Unlock()
			for _, op := range now {
				each(op)
			}
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			late = append(late, time.Since(start))
		})
		blocked := func(ops ...uint64) { // for ten seconds of the bubble's clock
			mu.Lock()
			now = ops
			mu.Unlock()
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
		blocked(1)
		mu.Lock()
		if len(late) != 1 || late[0] < time.Second || late[0] > 2*time.Second {
			t.Errorf("an operation blocked from the beginning is reported after %v", late)
		}
		mu.Unlock()
		blocked(1, 2, 3) // two more together: one report
		blocked()
		blocked(2) // another operation under a name used before
		d.Stop()
		if len(late) != 3 {
			t.Errorf("there were reports after %v, want 3", late)
		}
		var none *Watchdog
		none.Stop()
		Watch(0, nil, nil).Stop()
	})
}

// A context is named where the program has named its communicator.
func TestAReportNamesCommunicators(t *testing.T) {
	names := map[uint32]string{6: "rows", 12: "a \"b\""}
	for text, want := range map[string]string{
		"context 6, tag 6":         `context 6 of communicator "rows", tag 6`,
		"on context 6 that":        `on context 6 of communicator "rows" that`,
		"context 12; context 0":    `context 12 of communicator "a \"b\""; context 0`,
		"context 99999999999, pid": "context 99999999999, pid",
	} {
		if got := named(text, func(id uint32) string { return names[id] }); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if got := named(text, nil); got != text {
			t.Errorf("without names %q becomes %q", text, got)
		}
	}
}
