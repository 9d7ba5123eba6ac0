package mpi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/weft-mpi/weft/internal/atomicfile"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/timeline"
	"github.com/weft-mpi/weft/mpi/cause"
)

// WithTrace has the ranks record their messages, waits and collective calls, and write
// them into a file that Perfetto (ui.perfetto.dev) shows as one picture of the job, an
// arrow for each message. All ranks give it, or none; "" is as without it. Finalize
// writes the file, at rank 0, which gets the others' parts by messages: it takes longer,
// and no traffic behind it is in the file. Init fails with ErrNoSuchFile, ErrAccess or
// ErrBadFile if rank 0 can't write there. A rank whose part does not get to rank 0, since
// a rank has died or there is no World but sessions, writes it into a file of its own,
// whose name has the rank at the end: F.3. weft trace merge joins these.
//
// A rank keeps its last 131,072 events, fewer in a job of more than eight ranks: a
// million in all; the file says how many older ones were dropped. WEFT_TRACE_SPANS sets
// another number. A message that is recorded takes one or two hundred nanoseconds longer at each end.
// Without a trace nothing is recorded, and nothing takes longer. WEFT_TRACE is the same
// from outside. Local.
func WithTrace(file string) Option { return func(o *options) { o.trace = file } }

// The variables of traces.
const (
	traceVar      = "WEFT_TRACE"
	traceSpansVar = "WEFT_TRACE_SPANS"
)

// Bounds of traces: of what a rank keeps and of what all do unless the user says
// otherwise, and of what may be said.
const (
	traceSpans     = 1 << 17
	traceSpansJob  = 1 << 20
	minTraceSpans  = 1 << 10
	mostTraceSpans = 1 << 26
)

// lookUpTrace sets what the environment says about traces.
func (o *options) lookUpTrace() error {
	if o.trace == "" {
		o.trace = os.Getenv(traceVar)
	}
	v := os.Getenv(traceSpansVar)
	if v == "" {
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < minTraceSpans || n > mostTraceSpans {
		return &cause.EnvError{Var: traceSpansVar, Value: v, Err: errors.New("no such number"),
			Remedy: fmt.Sprintf("set it to %d to %d, how many events each rank keeps, or not at all", minTraceSpans, mostTraceSpans)}
	}
	o.traceSpans = n
	return nil
}

// tracing is the trace of a rank.
type tracing struct {
	file  string
	log   *timeline.Log
	clock timeline.Clock
	known string // how the clock is known, "" if it is not

	mu   sync.Mutex
	told bool // the file has the rank's part, or what is left of it is somebody else's
}

// newTracing begins the trace of a rank of size, or returns nil if there is to be none.
func (o *options) newTracing(size int) *tracing {
	if o.trace == "" {
		return nil
	}
	n := o.traceSpans
	if n == 0 {
		n = max(min(traceSpans, traceSpansJob/size), minTraceSpans)
	}
	return &tracing{file: o.trace, log: timeline.NewLog(n), clock: timeline.Same()}
}

// checkTrace returns an error if rank 0 can't write its trace. It leaves no file.
func (o *options) checkTrace(call string) error {
	if o.trace == "" {
		return nil
	}
	if err := atomicfile.Check(o.trace); err != nil {
		return badArg(call, ErrBadFile, "the trace can't be written: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(o.trace), ".weft-trace-*")
	if err == nil {
		f.Close()
		return os.Remove(f.Name())
	}
	class := ErrBadFile
	switch {
	case errors.Is(err, fs.ErrNotExist):
		class = ErrNoSuchFile
	case errors.Is(err, fs.ErrPermission):
		class = ErrAccess
	}
	return badArg(call, class, "the trace can't be written to %s: %w: name a file in a directory that exists and that this user may write to", o.trace, err)
}

// traceTime bounds how long a rank waits for another one's part of the trace, or for rank
// 0 to take its own, when all are in Finalize.
const traceTime = time.Minute

// Tags of the messages that carry parts, beside those of package comm: the Info and the
// number of bytes, then the bytes.
const (
	tracePartTag  = 1<<30 + 0x100
	traceBytesTag = tracePartTag + 1
)

// tracePart is the first message of a part.
type tracePart struct {
	Info  timeline.Info
	Bytes int64
}

// maxTracePart bounds such a message, in bytes, and a part.
const (
	maxTracePart  = 4 << 10
	maxTraceBytes = 1 << 40
)

// part is the text of the rank's part.
func (in *instance) part() (timeline.Info, []byte) {
	t, all := in.trace, in.engine.World
	info := timeline.Info{Rank: all.Rank, PID: os.Getpid(), Clock: t.known}
	if host, err := os.Hostname(); err == nil {
		info.Host = host[:min(len(host), 255)]
	}
	return t.log.Part(info, t.clock)
}

// gatherTrace writes the file at rank 0, and has the others hand over their parts. All
// ranks are in Finalize.
func (in *instance) gatherTrace() error {
	t := in.trace
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told {
		return nil
	}
	in.compareClocks(1)
	ctx, cancel := context.WithTimeout(context.Background(), traceTime)
	defer cancel()
	if in.engine.World.Rank == 0 {
		t.told = true
		return in.writeTrace(t.file, in.fetchPart)
	}
	info, events := in.part()
	first, err := json.Marshal(tracePart{info, int64(len(events))})
	if err == nil {
		err = in.sendPart(ctx, tracePartTag, first)
	}
	if err == nil {
		err = in.sendPart(ctx, traceBytesTag, events)
	}
	t.told = err == nil
	return nil // else release writes the part
}

func (in *instance) sendPart(ctx context.Context, tag int32, b []byte) error {
	all := in.engine.World
	return all.P2P.Send(ctx, pt2pt.Standard, 0, all.Library(), tag, b)
}

// fetchPart receives the part of a rank.
func (in *instance) fetchPart(rank int) (info timeline.Info, events []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), traceTime)
	defer cancel()
	all := in.engine.World
	b := make([]byte, maxTracePart)
	var part tracePart
	res, err := all.P2P.Recv(ctx, rank, all.Library(), tracePartTag, b)
	if err == nil {
		err = json.Unmarshal(b[:res.Bytes], &part)
	}
	if err == nil && (part.Info.Rank != rank || part.Bytes < 0 || part.Bytes > maxTraceBytes) {
		err = errors.New("its part is none")
	}
	if err != nil {
		return info, nil, err
	}
	events = make([]byte, part.Bytes)
	if _, err = all.P2P.Recv(ctx, rank, all.Library(), traceBytesTag, events); err != nil {
		return info, nil, err
	}
	return part.Info, events, nil
}

// writeTrace writes a file with the part of this rank and, unless fetch is nil, those of
// the others. The file is there as a whole or as it was.
func (in *instance) writeTrace(name string, fetch func(rank int) (timeline.Info, []byte, error)) error {
	var missing []int
	err := atomicfile.Write(name, func(f io.Writer) error {
		out := timeline.NewFile(f)
		out.Add(in.part())
		for rank := 0; fetch != nil && rank < in.engine.World.Size; rank++ {
			if rank == in.engine.World.Rank {
				continue
			}
			info, events, err := fetch(rank)
			if err != nil {
				info, missing = timeline.Info{Rank: rank, Absent: err.Error()}, append(missing, rank)
			}
			out.Add(info, events)
		}
		return out.Close()
	})
	if err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	if missing != nil {
		in.log.Warn("the trace lacks ranks; those that are alive have written files of their own: weft trace merge joins them", "file", name, "ranks", missing)
	}
	return nil
}

// leaveTrace writes the rank's part into a file of its own, if it has got nowhere else.
func (in *instance) leaveTrace() {
	t := in.trace
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told {
		return
	}
	name := fmt.Sprintf("%s.%d", t.file, in.engine.World.Rank)
	if err := in.writeTrace(name, nil); err != nil {
		in.log.Warn("the rank's part of the trace is lost", "err", err)
		return
	}
	in.log.Warn("the rank's part of the trace has a file of its own: weft trace merge joins it with others", "file", name)
}

// compareClocks finds the clock of rank 0, at the beginning (0) and at the end (1). Ranks
// of its host have the same.
func (in *instance) compareClocks(when int) {
	t, all := in.trace, in.engine.World
	if all.Rank == 0 || in.hosts == nil || in.hosts[all.Rank] == in.hosts[0] {
		t.known = "the same host"
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	at, add, within, ok := timeline.Best(in.engine.Clock(expiry.Of(ctx), 0))
	if !ok {
		return
	}
	if t.known == "" || when == 0 {
		t.clock.At[0], t.clock.Add[0], t.clock.Within = at, add, 0
	}
	t.clock.At[1], t.clock.Add[1], t.clock.Within = at, add, max(t.clock.Within, within)
	t.known = "round trips"
}
