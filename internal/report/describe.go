package report

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-mpi/weft/internal/pt2pt"
)

const (
	askTime = time.Second // how long Write waits for the replies of other ranks
	most    = 40          // operations, and sentences, of one report
)

// Who is the rank that a report is about.
type Who struct {
	Rank, Size int
	Fabric     string // the transports in use, as World.Fabric
	// Name returns the name of a context's communicator, "" for none; it may be nil.
	Name func(context uint32) string
}

// Write writes what is in flight at the rank of engine and a diagnosis: one line
// for each operation and unexpected message, the oldest first, 40 at most, and
// sentences that begin with "=>". It asks the ranks that operations here wait
// for, and may block for a second if one of them does not reply. The error is
// that of out, whose Write is called once.
func Write(out io.Writer, who Who, engine *pt2pt.Engine) error {
	pending := engine.Pending()
	told, ring := engine.Trace(askTime)
	words := diagnose(who.Rank, lasting(pending, engine.Pending()), told, ring)
	_, err := io.WriteString(out, named(describe(who, pending, words), who.Name))
	return err
}

var contexts = regexp.MustCompile(`\bcontext ([0-9]+)\b`)

// named adds to each context of a text the name of its communicator.
func named(text string, name func(uint32) string) string {
	if name == nil {
		return text
	}
	return contexts.ReplaceAllStringFunc(text, func(words string) string {
		id, err := strconv.ParseUint(words[len("context "):], 10, 32)
		if err != nil {
			return words
		}
		if n := name(uint32(id)); n != "" {
			words += fmt.Sprintf(" of communicator %q", n)
		}
		return words
	})
}

// describe is the text of a report with the sentences words.
func describe(who Who, pending []pt2pt.Pending, words []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "weft: rank %d of %d (process %d, fabric %s): ", who.Rank, who.Size, os.Getpid(), who.Fabric)
	if len(pending) == 0 {
		b.WriteString("nothing waits\n")
		return b.String()
	}
	fmt.Fprintf(&b, "%d operations and messages wait\n", len(pending))
	for i, p := range pending {
		if i == most {
			fmt.Fprintf(&b, "  and %d more\n", len(pending)-i)
			break
		}
		fmt.Fprintf(&b, "  %s: %s, for %v", phrase(p), p.State, p.Age)
		if p.Blocked {
			b.WriteString(", a goroutine is blocked in it")
		}
		b.WriteString("\n")
		if at := Place(p.Callers); at != "" {
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
	if p.Tag == pt2pt.AnyTag {
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
	case pt2pt.Operation:
		if p.Words != "" {
			return p.Words
		}
		return p.What.String()
	case pt2pt.Flushing, pt2pt.SendReceive:
		return p.What.String()
	}
	return fmt.Sprintf("%s %s %s, %s, %s, %s", p.What, way, peerName(p.Peer), tag, contextName(p.Context), size)
}

func peerName(peer int) string {
	if peer == pt2pt.AnySource {
		return "any rank"
	}
	return fmt.Sprintf("rank %d", peer)
}

// contextName names a context. An odd one carries the library's own messages
// for the communicator of the one below.
func contextName(id uint32) string {
	if id%2 == 1 {
		return fmt.Sprintf("a collective call on context %d", id-1)
	}
	return fmt.Sprintf("context %d", id)
}

const module = "github.com/weft-mpi/weft/"

// engine are the packages between a program's call and an operation: their lines
// do not help the program's author.
var engine = []string{"mpi", "internal/comm", "partitioned", "internal/pt2pt", "progress", "rma"}

// Place returns the function and line of the program for callers: the first one
// outside of the engine, or "" if none is known. callers are program counters
// around the call of an operation, as in pt2pt.Pending. Local.
func Place(callers [3]uintptr) string {
	if callers[0] == 0 {
		return ""
	}
	return Caller(callers[:])
}

// Caller is Place for any number of program counters, such as runtime.Callers gives.
func Caller(callers []uintptr) string {
	frames := runtime.CallersFrames(callers)
	for {
		f, more := frames.Next()
		name, ours := strings.CutPrefix(f.Function, module)
		pkg, _, _ := strings.Cut(name, ".")
		if f.File != "" && !(ours && slices.Contains(engine, pkg)) {
			return fmt.Sprintf("%s at %s:%d", f.Function, f.File, f.Line)
		}
		if !more {
			return ""
		}
	}
}
