package mpi

import (
	"io"
	"os"
	"time"

	"github.com/weft-mpi/weft/pt2pt"
	"github.com/weft-mpi/weft/report"
)

// Pending is an operation in flight at a rank, or a message that is there and
// that no receive has asked for.
type Pending struct {
	What    string        // "receive", "send", "unexpected message", ...
	Peer    int           // the other rank, or AnySource
	Tag     int           // or AnyTag
	Context uint32        // of the communicator; an odd one is the library's own
	Bytes   uint64        // length of the message, or the room of the receive
	Age     time.Duration // to a second
	Blocked bool          // a goroutine waits for it
	State   string        // how far it is
	Place   string        // the line of the program that called for it, if known
}

// Pending lists what waits at this rank, the oldest first; nothing if w is nil.
// Local.
func (w *World) Pending() []Pending {
	if w == nil || w.comm == nil {
		return nil
	}
	var all []Pending
	for _, p := range w.comm.p2p.Pending() {
		all = append(all, pendingOf(p))
	}
	return all
}

// pendingOf is an operation or a message in the form that users see.
func pendingOf(p pt2pt.Pending) Pending {
	return Pending{What: p.What.String(), Peer: p.Peer, Tag: int(p.Tag), Context: p.Context, Bytes: p.Bytes,
		Age: p.Age, Blocked: p.Blocked, State: p.State, Place: report.Place(p.Callers)}
}

// Report writes what waits at this rank, as Pending, and what that looks like:
// ranks that wait for one another, however many, a receive whose tag is not that
// of the message that is there. It asks the ranks that operations here wait for,
// those that they wait for, and so on, 64 at most, and may block for a second, if
// one of them has neither a progress thread nor a goroutine that waits. Ranks are
// said to be in a deadlock if each is blocked in an operation that needs the next
// one's call: not one that computes or has another goroutine that can go on, nor a
// Waitany or a receive from any rank. What their other goroutines do outside of
// the library is not known.
func (w *World) Report(out io.Writer) error {
	const call = "Report"
	if w == nil || w.comm == nil {
		return w.check(call)
	}
	if out == nil {
		return badArg(call, ErrArg, "the writer is nil")
	}
	return report.Write(out, report.Who{Rank: w.comm.rank, Size: w.comm.size, Fabric: w.fabric}, w.comm.p2p)
}

// WithWatchdog writes a report (World.Report) whenever a goroutine has been
// blocked in one operation for so long. Each such operation is reported once. A
// nil writer is standard error.
func WithWatchdog(after time.Duration, to io.Writer) Option {
	return func(o *options) { o.watch, o.watchTo = after, to }
}

// WithoutSIGQUIT leaves the signal alone. Otherwise Init makes a SIGQUIT write a
// report of each World to standard error, before the Go runtime does with the
// signal what it always does: print the stacks of all goroutines and exit.
func WithoutSIGQUIT() Option { return func(o *options) { o.noSignal = true } }

// startWatchdog makes the World's watchdog write to to.
func (w *World) startWatchdog(after time.Duration, to io.Writer) {
	if to == nil {
		to = os.Stderr
	}
	w.dog = report.Watch(after, w.comm.p2p.Blocked, func() {
		if err := w.Report(to); err != nil {
			w.log.Error("the watchdog's report can't be written", "err", err)
		}
	})
}

// reportOnQuit makes a SIGQUIT write a report, until the World ends.
func (w *World) reportOnQuit() {
	w.noQuit = report.OnQuit(func() { w.Report(os.Stderr) })
}

// noReports ends the watchdog and the report at a SIGQUIT.
func (w *World) noReports() {
	if w.noQuit != nil {
		w.noQuit()
	}
	w.dog.Stop()
}
