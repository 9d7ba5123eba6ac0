package mpi_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/timeline"
	"github.com/weft-mpi/weft/mpi"
)

// traceEvent is an event of a trace.
type traceEvent struct {
	Ph, Cat, Name, ID string
	Pid, Tid          int64
	Ts, Dur           float64
	Args              struct {
		Peer, Tag, Context, Bytes, Message, Call int64
		Protocol, Algorithm, Outcome             string
		Unexpected                               float64 `json:"unexpected_us"`
	}
}

// traceFile is a trace as Perfetto reads it.
type traceFile struct {
	TraceEvents []traceEvent
	OtherData   struct{ Ranks []timeline.Info }
}

func readTrace(name string) (f traceFile, err error) {
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	return f, err
}

// slices are the slices of a rank in a category whose name begins so.
func (f *traceFile) slices(rank int, cat, name string) (all []traceEvent) {
	for _, e := range f.TraceEvents {
		if e.Ph == "X" && e.Pid == int64(rank)+1 && e.Cat == cat && strings.HasPrefix(e.Name, name) {
			all = append(all, e)
		}
	}
	return all
}

// within are the slices of the same row that lie within one.
func (f *traceFile) within(e traceEvent, name string) (all []traceEvent) {
	for _, o := range f.TraceEvents {
		if o.Ph == "X" && o.Tid == e.Tid && strings.HasPrefix(o.Name, name) && o.Ts >= e.Ts && o.Ts+o.Dur <= e.Ts+e.Dur+0.0005 {
			all = append(all, o)
		}
	}
	return all
}

// check returns an error unless slices of a row nest, each arrow has both ends, on slices of
// its ranks, and clocks agree as far as the file says.
func (f *traceFile) check() error {
	rows, ends := map[int64][]traceEvent{}, map[string][2]*traceEvent{}
	for i, e := range f.TraceEvents {
		switch e.Ph {
		case "X":
			rows[e.Tid] = append(rows[e.Tid], e)
		case "s", "f":
			both := ends[e.ID]
			if k := strings.Index("sf", e.Ph); both[k] != nil {
				return fmt.Errorf("two arrows are %s", e.ID)
			} else {
				both[k] = &f.TraceEvents[i]
			}
			ends[e.ID] = both
		}
	}
	const ns = 0.001
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b traceEvent) int { return cmp.Or(cmp.Compare(a.Ts, b.Ts), cmp.Compare(b.Dur, a.Dur)) })
		var open []float64
		for _, e := range row {
			for len(open) > 0 && open[len(open)-1] <= e.Ts+ns/2 {
				open = open[:len(open)-1]
			}
			if n := len(open); n > 0 && e.Ts+e.Dur > open[n-1]+ns/2 {
				return fmt.Errorf("%s at %f ends %f us behind the slice it begins in", e.Name, e.Ts, e.Ts+e.Dur-open[n-1])
			}
			open = append(open, e.Ts+e.Dur)
		}
	}
	within := 1.0 // what Monotonic can be wrong by in two processes that are interrupted, in microseconds
	for _, r := range f.OtherData.Ranks {
		if r.Offset > r.Within+1000 || -r.Offset > r.Within+1000 { // all ranks of a test are on one machine
			return fmt.Errorf("the clock of rank %d is %d ns off, and is said to be at most %d", r.Rank, r.Offset, r.Within)
		}
		within += 2 * float64(r.Within) / 1000
	}
	for id, both := range ends {
		if both[0] == nil || both[1] == nil {
			return fmt.Errorf("the arrow %s has one end: %v", id, both)
		}
		if both[1].Ts < both[0].Ts-within {
			return fmt.Errorf("the arrow %s goes %f us back, and the clocks differ by %f at most", id, both[0].Ts-both[1].Ts, within)
		}
		for k, cat := range []string{"send", "receive"} {
			on := func(e traceEvent) bool {
				return e.Cat == cat && e.Ts <= both[k].Ts+ns/2 && e.Ts+e.Dur >= both[k].Ts-ns/2
			}
			if !slices.ContainsFunc(rows[both[k].Tid], on) {
				return fmt.Errorf("an end of the arrow %s is on no %s", id, cat)
			}
		}
	}
	return nil
}

// tracePath is a file that all ranks of a test have.
func tracePath(t *testing.T) string {
	dir := t.TempDir()
	if team != nil {
		dir = team.dir
	}
	return filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")+".json")
}

// The messages of the program, by tag, with their lengths.
var traced = []struct{ tag, bytes int }{{1, 0}, {2, 8}, {3, 3000}, {4, 12 << 10}, {5, 1 << 20}, {6, 8}}

func TestATraceHasTheMessagesOfTheProgramAndNoOthers(t *testing.T) {
	ranks(t, func(t *testing.T, fabric string, n int) {
		file := tracePath(t)
		run(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
			next, before := (c.Rank()+1)%n, (c.Rank()-1+n)%n
			for _, m := range traced {
				in, out := make([]byte, m.bytes), make([]byte, m.bytes)
				r, err := mpi.Isend(c, out, next, m.tag)
				if err != nil {
					return err
				}
				if _, err := mpi.Recv(c, in, before, m.tag); err != nil {
					return err
				}
				if _, err := mpi.Wait(&r); err != nil {
					return err
				}
			}
			// A message that is here before its receive.
			if err := mpi.Send(c, make([]byte, 16), next, 20); err != nil {
				return err
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			if _, err := mpi.Recv(c, make([]byte, 16), before, 20); err != nil {
				return err
			}
			sum := []int64{0}
			return mpi.Allreduce(c, mpi.Sum, []int64{1}, sum)
		}, mpi.WithTrace(file))
		f, err := readTrace(file)
		if err == nil {
			err = f.check()
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(f.OtherData.Ranks) != n {
			t.Fatalf("the trace has %d ranks", len(f.OtherData.Ranks))
		}
		for rank := range n {
			checkRank(t, &f, rank, n)
		}
	})
}

// checkRank compares what the trace says of a rank with the program.
func checkRank(t *testing.T, f *traceFile, rank, n int) {
	t.Helper()
	for _, way := range []struct {
		cat  string
		peer int
	}{{"send", (rank + 1) % n}, {"receive", (rank - 1 + n) % n}} {
		found := map[int64]traceEvent{}
		for _, e := range f.slices(rank, way.cat, way.cat) {
			if e.Args.Context&1 != 0 {
				continue // of the library
			}
			if _, twice := found[e.Args.Tag]; twice || e.Args.Peer != int64(way.peer) || e.Args.Message == 0 || e.Args.Outcome != "" {
				t.Errorf("rank %d: %s: %+v", rank, way.cat, e)
			}
			found[e.Args.Tag] = e
		}
		for _, m := range append(traced, struct{ tag, bytes int }{20, 16}) {
			e, ok := found[int64(m.tag)]
			if !ok || e.Args.Bytes != int64(m.bytes) || e.Args.Protocol == "" {
				t.Errorf("rank %d: %s with tag %d: %+v", rank, way.cat, m.tag, e)
			}
			delete(found, int64(m.tag))
			switch self := n == 1; {
			case self != (e.Args.Protocol == "self"), m.bytes < 100 && !self && e.Args.Protocol != "eager", m.bytes >= 1<<20 && e.Args.Protocol == "eager":
				t.Errorf("rank %d: %s of %d bytes by %s", rank, way.cat, m.bytes, e.Args.Protocol)
			case m.bytes >= 1<<20 && !self && len(f.within(e, e.Args.Protocol)) != 1:
				t.Errorf("rank %d: no phase of %s in %+v", rank, e.Args.Protocol, e)
			}
		}
		if len(found) > 0 {
			t.Errorf("rank %d: %s that the program does not make: %v", rank, way.cat, found)
		}
	}
	late := f.slices(rank, "receive", "receive")
	if i := slices.IndexFunc(late, func(e traceEvent) bool { return e.Args.Tag == 20 && e.Args.Context&1 == 0 }); i < 0 || late[i].Args.Unexpected <= 0 {
		t.Errorf("rank %d: a message that waits for its receive does not say so: %+v", rank, late)
	}
	for name, want := range map[string]int{"Barrier": 1, "Allreduce": 1, "Finalize": 1} {
		if all := f.slices(rank, "collective", name); len(all) != want || all[0].Args.Algorithm == "" {
			t.Errorf("rank %d: %s: %+v", rank, name, all)
		}
	}
}

func TestTheWaitsOfATraceCoverWhatIsWaitedFor(t *testing.T) {
	file := tracePath(t)
	run(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) error {
		if c.Rank() == 1 {
			if err := mpi.Send(c, make([]byte, 8), 0, 8); err != nil {
				return err
			}
			_, err := mpi.Recv(c, make([]byte, 8), 0, 7)
			return err
		}
		if _, err := mpi.Recv(c, make([]byte, 8), 1, 8); err != nil {
			return err
		}
		work() // while rank 1 waits
		return mpi.Send(c, make([]byte, 8), 1, 7)
	}, mpi.WithTrace(file))
	f, err := readTrace(file)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		t.Fatal(err)
	}
	recv := slices.DeleteFunc(f.slices(1, "receive", "receive"), func(e traceEvent) bool { return e.Args.Tag != 7 })
	wait := slices.DeleteFunc(f.slices(1, "wait", "wait for receive"), func(e traceEvent) bool { return e.Args.Tag != 7 })
	if len(recv) != 1 || len(wait) != 1 || wait[0].Dur < recv[0].Dur/2 {
		t.Fatalf("the receive is %+v, its wait %+v", recv, wait)
	}
	if posted := f.within(recv[0], "posted"); len(posted) != 1 || posted[0].Dur < recv[0].Dur/2 {
		t.Errorf("the receive was posted %+v", posted)
	}
}

// work takes some milliseconds.
func work() {
	x := 1.0
	for i := range 20_000_000 {
		x += 1 / (x + float64(i))
	}
	if x < 0 {
		panic("no number")
	}
}

func TestATraceSaysWhatItHasDropped(t *testing.T) {
	t.Setenv("WEFT_TRACE_SPANS", "1024")
	file := tracePath(t)
	const messages = 3000
	run(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) error {
		for range messages {
			if _, err := mpi.Sendrecv(c, []byte{1}, 1-c.Rank(), 0, make([]byte, 1), 1-c.Rank(), 0); err != nil {
				return err
			}
		}
		return nil
	}, mpi.WithTrace(file))
	f, err := readTrace(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.OtherData.Ranks {
		if r.Spans != 1024 || r.Limit != 1024 || r.Dropped < 2*messages-1024 {
			t.Errorf("rank %d: %+v", r.Rank, r)
		}
	}
	if len(f.OtherData.Ranks) != 2 || !slices.ContainsFunc(f.TraceEvents, func(e traceEvent) bool { return e.Name == "process_labels" }) {
		t.Errorf("the picture says nothing of it: %+v", f.OtherData)
	}
}

func TestATraceThatCannotBeWrittenIsRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		file string
		want mpi.Class
	}{{filepath.Join(dir, "no", "t.json"), mpi.ErrNoSuchFile}, {dir, mpi.ErrBadFile}} {
		called := false
		err := mpi.Run(2, func(*mpi.World) error { called = true; return nil }, mpi.WithTrace(c.file))
		if !errors.Is(err, c.want) || called || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s: %v, want %v", c.file, err, c.want)
		}
	}
	for _, v := range []string{"x", "1023", "-1", "99999999999"} {
		t.Setenv("WEFT_TRACE_SPANS", v)
		if err := mpi.CheckEnvironment(); err == nil || !strings.Contains(err.Error(), "WEFT_TRACE_SPANS") {
			t.Errorf("%s events: %v", v, err)
		}
	}
}

func TestWithoutATraceThereIsNoFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := mpi.Run(2, func(w *mpi.World) error { return w.Comm().Barrier() }, mpi.WithTrace("")); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("there is %v (%v)", left, err)
	}
}

// The environment names the file too, and the last of several jobs has it.
func TestTheEnvironmentAsksForATrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	t.Setenv("WEFT_TRACE", file)
	for n := 1; n <= 2; n++ {
		if err := mpi.Run(n, func(w *mpi.World) error { return w.Comm().Barrier() }); err != nil {
			t.Fatal(err)
		}
		if f, err := readTrace(file); err != nil || len(f.OtherData.Ranks) != n {
			t.Errorf("%d ranks: %+v, %v", n, f.OtherData, err)
		}
	}
}

func TestRanksThatCannotHandOverTheirTracesKeepThem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	failed := errors.New("rank 1 fails")
	err := mpi.Run(3, func(w *mpi.World) error {
		if err := w.Comm().Barrier(); err != nil {
			return err
		}
		if w.Comm().Rank() == 1 {
			return failed
		}
		return nil
	}, mpi.WithTrace(file), mpi.WithLogger(slog.New(slog.DiscardHandler)))
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	a, b, c := open(t, file+".0"), open(t, file+".1"), open(t, file+".2")
	ranks, err := timeline.Merge(out, a, b, c)
	if err != nil || !slices.Equal(ranks, []int{0, 1, 2}) {
		t.Fatalf("the parts of %v: %v", ranks, err)
	}
	f, err := readTrace(file)
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 3 {
		if len(f.slices(rank, "collective", "Barrier")) != 1 {
			t.Errorf("rank %d has no barrier", rank)
		}
	}
}

func open(t *testing.T, name string) *os.File {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestTheSurvivorsOfADeathKeepTheirTraces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	var out bytes.Buffer
	l := launch.Launch{N: 4, Path: os.Args[0], Env: append(os.Environ(), roleVar+"=survive: barrier", "WEFT_TRACE="+file), KeepGoing: true, Stdout: &out, Stderr: &out}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if exit, ok := errors.AsType[*launch.ExitError](l.Run(ctx)); !ok || exit.Rank != 2 {
		t.Fatalf("%v\n%s", exit, out.String())
	}
	for rank := range 4 {
		f, err := readTrace(fmt.Sprintf("%s.%d", file, rank))
		switch {
		case rank == 2:
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a killed rank has written %+v (%v)", f.OtherData, err)
			}
		case err != nil:
			t.Errorf("rank %d: %v\n%s", rank, err, out.String())
		case len(f.slices(rank, "collective", "Barrier")) < 50:
			t.Errorf("rank %d has %d barriers", rank, len(f.slices(rank, "collective", "Barrier")))
		}
	}
}
