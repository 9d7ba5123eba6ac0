//go:build bugs

package rma

import "github.com/weft-mpi/weft/internal/planted"

// The tests that find the bugs of windowBugs.
const (
	programs = "TestModel$"
	deaths   = "TestADeathAtAnyCall"
	hostile  = "TestNoPacket"
)

// windowBugs are the mistakes that TestPlantedBugsOfWindows makes, one at a time.
var windowBugs = planted.List{
	{"a flush does not ask the target", "rma/flush.go",
		"if t.unacked && !f.local {", "if false {", programs},
	{"a flush does not wait for results", "rma/flush.go",
		"if t.open.first != nil && t.open.first.number <= f.number {", "if t.open.first != nil && !t.open.first.get && t.open.first.number <= f.number {", programs},
	{"a flush of a target forgets the others", "rma/flush.go",
		"	w.any.Store(len(w.touched) > 0)\n", "	w.any.Store(false)\n", programs},
	{"signals are counted for all ranks together", "rma/signal.go",
		"	s.spare[rank]++\n", "	s.spare[0]++\n", programs},
	{"a post that comes before its Start is lost", "rma/signal.go",
		"	case err == nil:\n		s.add(rank)\n", "	case err == nil && s.wait != nil:\n		s.add(rank)\n", programs},
	{"a compare-and-swap takes its comparand for the operand", "rma/serve.go",
		"swap(k, to, body[n:], body[:n], old)", "swap(k, to, body[:n], body[n:], old)", programs},
	{"the pieces of a result lie at its begin", "rma/lane.go",
		"copy(o.dst[off:], body)", "copy(o.dst, body)", programs},
	{"a request completes when its operands are on the way", "rma/lane.go",
		"		if !o.get {\n			o.end(nil)", "		if !o.get || o.named {\n			o.end(nil)", programs},
	{"Complete does not flush", "rma/sync.go",
		"h := w.wait(ctx, \"Complete\", targets, false,", "h := w.wait(ctx, \"Complete\", targets[:0:0], false,", programs},
	{"Unlock does not flush", "rma/lock.go",
		"	err = w.flush(ctx, target, false)\n", "	err = w.flush(ctx, target, true)\n", programs},
	{"a range of a window that is not dynamic is checked by piece", "rma/serve.go",
		"} else if at > uint64(len(whole)) || p.Total > uint64(len(whole))-at {", "} else if p.At > uint64(len(whole)) || n > uint64(len(whole)) {", hostile},
	{"a death leaves a flush waiting", "rma/signal.go",
		"		f.note(err)\n		f.endFlush()\n", "		t.flushes.remove(f)\n", deaths},
	{"who has freed a window answers no flush", "rma/serve.go",
		"	if refuse != nil {\n", "	if false {\n", deaths},
	{"a death leaves those that wait for signals", "rma/signal.go",
		"	w.posts.take(r, err)\n", "", deaths},
}
