package mpi

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weft-mpi/weft/pt2pt"
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
		all = append(all, tellPending(p))
	}
	return all
}

func tellPending(p pt2pt.Pending) Pending {
	return Pending{What: p.What.String(), Peer: p.Peer, Tag: int(p.Tag), Context: p.Context, Bytes: p.Bytes,
		Age: p.Age, Blocked: p.Blocked, State: p.State, Place: place(p.Callers)}
}

// ours are the packages whose lines are not the program's.
var ours = []string{"mpi.", "pt2pt.", "progress."}

// place finds the line of the program among the callers of a call.
func place(pcs [3]uintptr) string {
	if pcs[0] == 0 {
		return ""
	}
	frames := runtime.CallersFrames(pcs[:])
	for {
		f, more := frames.Next()
		name := strings.TrimPrefix(f.Function, "github.com/weft-mpi/weft/")
		inside := slices.ContainsFunc(ours, func(p string) bool { return strings.HasPrefix(name, p) })
		if f.File != "" && (!inside || name == f.Function) {
			return fmt.Sprintf("%s at %s:%d", f.Function, f.File, f.Line)
		}
		if !more {
			return ""
		}
	}
}

const (
	askFor     = time.Second // how long a report waits for other ranks' answers
	reportMost = 40          // entries of a report
)

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
	pending := w.comm.p2p.Pending()
	told, ring := w.comm.p2p.Trace(askFor)
	words := diagnose(w.comm.rank, lasting(pending, w.comm.p2p.Pending()), told, ring)
	_, err := io.WriteString(out, w.describe(pending, words))
	return err
}

func (w *World) describe(pending []pt2pt.Pending, words []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "weft: rank %d of %d (process %d, fabric %s): ", w.comm.rank, w.comm.size, os.Getpid(), w.fabric)
	if len(pending) == 0 {
		b.WriteString("nothing waits\n")
		return b.String()
	}
	fmt.Fprintf(&b, "%d operations and messages wait\n", len(pending))
	for i, p := range pending {
		if i == reportMost {
			fmt.Fprintf(&b, "  and %d more\n", len(pending)-i)
			break
		}
		fmt.Fprintf(&b, "  %s: %s, for %v", phrase(p), p.State, p.Age)
		if p.Blocked {
			b.WriteString(", a goroutine is blocked in it")
		}
		b.WriteString("\n")
		if at := place(p.Callers); at != "" {
			fmt.Fprintf(&b, "      %s\n", at)
		}
	}
	for _, s := range words {
		fmt.Fprintf(&b, "  => %s\n", s)
	}
	return b.String()
}

// phrase names an operation or a message.
func phrase(p pt2pt.Pending) string {
	tag := fmt.Sprintf("tag %d", p.Tag)
	if int(p.Tag) == AnyTag {
		tag = "any tag"
	}
	way, size := "from", fmt.Sprintf("room for %d bytes", p.Bytes)
	switch p.What {
	case pt2pt.Send:
		way, size = "to", fmt.Sprintf("%d bytes", p.Bytes)
	case pt2pt.Unexpected, pt2pt.Matched:
		size = fmt.Sprintf("%d bytes", p.Bytes)
	case pt2pt.Probing:
		return fmt.Sprintf("%s of %s, %s, %s", p.What, peerName(p.Peer), tag, contextName(p.Context))
	case pt2pt.Collective:
		return fmt.Sprintf("%s that needs %s", contextName(p.Context), peerName(p.Peer))
	case pt2pt.Flushing, pt2pt.SendReceive, pt2pt.Operation:
		return p.What.String()
	}
	return fmt.Sprintf("%s %s %s, %s, %s, %s", p.What, way, peerName(p.Peer), tag, contextName(p.Context), size)
}

func peerName(peer int) string {
	if peer == AnySource {
		return "any rank"
	}
	return fmt.Sprintf("rank %d", peer)
}

func contextName(cid uint32) string {
	if cid%2 == 1 {
		return fmt.Sprintf("a collective call on context %d", cid-1)
	}
	return fmt.Sprintf("context %d", cid)
}
