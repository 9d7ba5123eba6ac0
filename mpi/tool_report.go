package mpi

import (
	"io"
	"os"
	"time"

	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// Pending is an operation in flight at a rank, or a message there without a
// receive.
type Pending struct {
	What    string        // "receive", "send", "unexpected message", ...
	Peer    int           // the other rank, or AnySource
	Tag     int           // or AnyTag
	Context uint32        // of the communicator; an odd one is the library's own
	Comm    string        // the communicator's name, if the program has set one (Comm.SetName)
	Bytes   uint64        // length of the message, or the room of the receive
	Age     time.Duration // to a second
	Blocked bool          // a goroutine waits for it
	State   string        // how far it has come
	Place   string        // the line of the program that called for it, if known
}

// Pending lists what waits at this rank, the oldest first; nothing if w is nil.
// Local.
func (w *World) Pending() []Pending {
	if w == nil || w.comm == nil {
		return nil
	}
	var all []Pending
	w.engine.Loop.CatchUp()
	for _, p := range w.comm.p2p.Pending() {
		told := pendingOf(p)
		if p.Words == "" { // else the words tell of the context
			told.Comm = w.nameOf(p.Context)
		}
		all = append(all, told)
	}
	return all
}

// pendingOf is an operation or a message in the form that users see.
func pendingOf(p pt2pt.Pending) Pending {
	what := p.What.String()
	if p.Words != "" {
		what = p.Words
	}
	return Pending{What: what, Peer: p.Peer, Tag: int(p.Tag), Context: p.Context, Bytes: p.Bytes,
		Age: p.Age, Blocked: p.Blocked, State: p.State, Place: diagnose.Place(p.Callers)}
}

// Report writes what waits at this rank, as Pending, and why, in the sentences of
// weft stacks: ranks that wait for one another, however many, a receive whose tag
// differs from that of the message that is there, a collective call that a rank has
// not made. It asks the ranks that operations here wait for, those that they wait for,
// and so on, 64 at most, twice. It may block for some seconds if one of them has
// neither a progress thread nor a goroutine that waits. A deadlock is reported if
// none of its ranks can go on before another of them makes a call. A rank that
// computes, or has another goroutine that can go on, is in none; a receive from any
// rank is if all ranks that could send are. The library does not know what other
// goroutines do outside of it. It
// fails with ErrArg for a nil writer, and as the writer does. Local, since it waits no
// longer than that.
func (w *World) Report(out io.Writer) error {
	const call = "World.Report"
	if w == nil || w.comm == nil {
		return w.check(call)
	}
	if out == nil {
		return badArg(call, ErrArg, "the writer is nil")
	}
	return w.report(out)
}

func (in *instance) report(out io.Writer) error {
	all := in.engine.World
	_, err := io.WriteString(out, in.engine.Job().Report(all.Rank, all.Size, in.fabric))
	return err
}

// WithWatchdog writes a report (World.Report) whenever a goroutine has been
// blocked in one operation for the given time. Each such operation is reported
// once. A nil writer is standard error. Local.
func WithWatchdog(after time.Duration, to io.Writer) Option {
	return func(o *options) { o.watch, o.watchTo = after, to }
}

// WithoutSIGQUIT leaves the signal alone. Otherwise Init, or
// NewSession, makes a SIGQUIT write a
// report of each rank to standard error, before the Go runtime prints the
// stacks of all goroutines and exits, as it does without Weft. Local.
func WithoutSIGQUIT() Option { return func(o *options) { o.noSignal = true } }

// startWatchdog makes the rank's watchdog write to to.
func (in *instance) startWatchdog(after time.Duration, to io.Writer) {
	if to == nil {
		to = os.Stderr
	}
	l := in.engine.Loop
	blocked := func(each func(op uint64)) {
		l.Exclusive(func() {
			l.Blocked(func(r *progress.Request, _ any, _ int) { each(uint64(r.Op())) })
		})
	}
	in.dog = diagnose.Watch(after, blocked, func() {
		if err := in.report(to); err != nil {
			in.log.Error("the watchdog's report can't be written", "err", err)
		}
	})
}

// noReports stops the watchdog and the report at a SIGQUIT.
func (in *instance) noReports() {
	if in.noQuit != nil {
		in.noQuit()
	}
	in.dog.Stop()
}
