//go:build bugs

package rma

import "github.com/weft-mpi/weft/internal/testkit/planted"

// The tests that find the bugs of windowBugs.
const (
	programs = "TestModel$"
	deaths   = "TestADeathAtAnyCall"
	hostile  = "TestNoPacket"
	million  = "TestAMillion"
	storms   = "TestAStorm"
)

// windowBugs are the mistakes that TestPlantedBugsOfWindows makes, one at a time.
var windowBugs = planted.List{
	{"a flush does not ask the target", "rma/flush.go",
		"if !f.local && asks || ", "if false && asks || ", programs},
	{"a flush does not wait for results", "rma/flush.go",
		"if !o.get || !o.given {\n\t\t\treturn n, false\n\t\t}\n\t\tn++\n", "if !o.get {\n\t\t\treturn n, false\n\t\t}\n", programs},
	{"a flush does not wait for Gets that the fabric has taken", "rma/flush.go",
		"f.going, f.left = true, gets\n", "f.going, f.left = true, 0*gets\n", "TestAFlushWaitsForGets"},
	{"a flush is confirmed before its operations are handed over", "rma/flush.go",
		"if !o.get || !o.given {", "if o.get && !o.given {", "TestAFlushAsks"},
	{"a flush of Gets asks the fabric", "rma/action.go",
		"t.native = t.native || !o.get\n", "t.native = true\n", "TestAFlushWaitsForGets"},
	{"what a flush kept stays", "rma/flush.go",
		"f.kept, t.kept = false, t.kept, f.kept\n", "f.kept = false, t.kept\n", programs},
	{"a flush of a target forgets the others", "rma/flush.go",
		"	w.any.Store(len(w.touched) > 0)\n", "	w.any.Store(false)\n", programs},
	{"signals are counted for all ranks together", "rma/signal.go",
		"	s.heard[w.rankOf(from)]++\n", "	s.heard[0]++\n", programs},
	{"a signal is taken twice", "rma/signal.go",
		"		s.taken[r]++\n	}\n	return true\n", "		_ = r\n	}\n	return true\n", programs},
	{"a compare-and-swap takes its comparand for the operand", "rma/serve.go",
		"swap(k, to, body[n:], body[:n], old)", "swap(k, to, body[:n], body[n:], old)", programs},
	{"the pieces of a result lie at its begin", "rma/lane.go",
		"copy(o.dst[off:], body)", "copy(o.dst, body)", programs},
	{"a request completes when its operands are on the way", "rma/lane.go",
		"		if !o.get {\n			o.end(nil)", "		if !o.get || o.named {\n			o.end(nil)", programs},
	{"Complete does not flush", "rma/sync.go",
		"h := w.wait(ctx, \"Complete\", targets, false)", "h := w.wait(ctx, \"Complete\", targets[:0:0], false)", programs},
	{"Unlock does not flush", "rma/lock.go",
		"	err = w.flush(ctx, target, false)\n", "	err = w.flush(ctx, target, true)\n", programs},
	{"a range of a window that is not dynamic is checked by piece", "rma/serve.go",
		"} else if at > uint64(len(whole)) || p.Total > uint64(len(whole))-at {", "} else if p.At > uint64(len(whole)) || n > uint64(len(whole)) {", hostile},
	{"a flush leaves the target to the flush before it", "rma/flush.go",
		"t.unacked || t.flushes.any(func(o *action) bool { return o.asks })", "t.unacked", "TestFlushesAtOnce"},
	{"what another flush waits for is over", "rma/flush.go",
		"case t.open.first == nil && t.flushes.first == nil && ", "case t.open.first == nil && ", "TestFlushesAtOnce"},
	{"whoever reaches an element of 16 bytes changes it", "rma/transfer.go",
		"		if t.rank != w.rank {\n			return false\n		}\n", "", million},
	{"nobody is told what a flush that was given up has missed", "rma/flush.go",
		"case err != nil && parent != nil && parent.over:", "case false:", "TestAFlushThatIs"},
	{"a Start that is given up takes the posts with it", "rma/signal.go",
		"x); err != nil {\n", "x); err != nil {\n		w.e.loop.Exclusive(x.take)\n", programs},
	{"a lock that is given up is kept", "rma/lock.go",
		"			w.unlock(c.op.kind, c.op.target)\n", "", programs},
	{"an Unlock that is given up is the end", "rma/epoch_change.go",
		"		e.put(int(ch.target), 0, opened)\n	case CallPost, CallWait", "	case CallPost, CallWait", programs},
	{"who names memory that is not attached is ended", "rma/serve.go",
		"		w.refuse(from, p.At-p.Offset, p.Total)\n		return true\n", "		return false\n", storms},
	{"a flush tells of no refusal", "rma/flush.go",
		"MakeRRefused(e.hdr[:], bad[0], bad[1])", "MakeRRefused(e.hdr[:], bad[0], 0)", storms},
	{"a Get of the own memory never fails", "rma/action.go",
		"	if !o.get {\n		o.t.fail(err)\n", "	if o.get || !o.get {\n		o.t.fail(err)\n", storms},
	{"a death leaves a flush waiting", "rma/death.go",
		"		f.note(err)\n		f.endFlush()\n", "		t.flushes.remove(f)\n", deaths},
	{"who has freed a window answers no flush", "rma/serve.go",
		"	if refuse != nil {\n", "	if false {\n", deaths},
	{"a death leaves those that wait for signals", "rma/signal.go",
		"		if err == nil {\n			return false, nil\n", "		if true {\n			return false, nil\n", deaths},
}
