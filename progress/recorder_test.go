package progress

import (
	"bytes"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/timeline"
)

// dozes has a goroutine of the loop wait until it is parked, and ends the wait.
func dozes(t *testing.T, s *toy) {
	t.Helper()
	l := s.l
	done := make(chan error, 1)
	r := l.NewShared()
	r.Kind, r.Peer = forever, 0
	go func() {
		_, err := l.Do(s, r)
		done <- err
	}()
	for parked := false; !parked; {
		l.Exclusive(func() { parked = l.parked.first() != nil })
	}
	l.Exclusive(func() {
		for r := range s.waiting {
			delete(s.waiting, r)
			s.finish(r)
		}
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestAWaitHasItsSleepWithin(t *testing.T) {
	log := timeline.NewLog(100)
	dozes(t, loops(t, 2, Config{Timeline: log})[0])
	all, _, _ := log.Spans()
	var wait, park []timeline.Span
	for _, span := range all {
		switch span.Kind {
		case timeline.Wait:
			wait = append(wait, span)
		case timeline.Park:
			park = append(park, span)
		}
	}
	if len(wait) != 1 || len(park) == 0 {
		t.Fatalf("waits %+v, sleeps %+v", wait, park)
	}
	for _, p := range park {
		if p.Seq != wait[0].Seq || p.Begin < wait[0].Begin || p.End > wait[0].End || p.End < p.Begin {
			t.Errorf("the sleep %+v is not in the wait %+v", p, wait[0])
		}
	}
}

// Where Go's execution tracer runs, sleeps are regions, with a timeline and without.
func TestGosTracerShowsSleeps(t *testing.T) {
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skipf("another test traces: %v", err)
	}
	dozes(t, loops(t, 2, Config{})[0])
	trace.Stop()
	if !strings.Contains(b.String(), "weft: wait for a request") {
		t.Errorf("no region in %d bytes", b.Len())
	}
}

func TestProfilesNameTheProgressThread(t *testing.T) {
	loops(t, 2, Config{})
	for named := false; !named; { // until it has begun
		var b bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
			t.Fatal(err)
		}
		named = strings.Contains(b.String(), `"weft":"progress thread"`)
	}
}

// nowhere is a layout of bytes that nobody wants.
type nowhere struct{ Layout }

func (nowhere) Free() {}

func TestATimelineHasTheBytesOfALayout(t *testing.T) {
	log := timeline.NewLog(10)
	l := &Loop{}
	l.record(log)
	r := l.Take(true)
	r.SetLayout(nowhere{}, 77)
	if !l.Adopt(&classedSink{}, r) {
		t.Fatal("the loop is over")
	}
	l.Finish(r, nil)
	l.collect(r)
	spans, _, _ := log.Spans()
	if len(spans) != 1 || spans[0].Kind != timeline.Op || spans[0].Bytes != 77 {
		t.Errorf("the timeline has %+v", spans)
	}
}
