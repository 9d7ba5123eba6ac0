//go:build bugs

package comm

import "github.com/weft-mpi/weft/internal/planted"

// bugs are the mistakes that TestPlantedBugs makes, one at a time.
var bugs = []bug{
	{"a flag is raised after the look", "comm/flags.go",
		"\t\tif !f.raised {\n", "\t\tif !f.raised && f.look(r) {\n", 1000},
	{"Knock comes before the store", "comm/flags.go",
		"\t\t\tmembar.StoreRelease(r.flag, f.mine.base+f.number)\n", "\t\t\tdefer membar.StoreRelease(r.flag, f.mine.base+f.number)\n", 1000},
	{"nobody Knocks", "comm/flags.go",
		"\t\t\t\tr.lookers[i].ep.Knock(false)\n", "\t\t\t\t_ = i\n", 1000},
	{"the last of those that look is not knocked at", "comm/flags.go",
		"for i := range r.lookers {\n\t\t\t\tr.lookers", "for i := range r.lookers[1:] {\n\t\t\t\tr.lookers", 1000},
	{"a flag used again begins at 0", "comm/flags.go",
		"\tf.mine.base += f.number\n", "", 1000},
	{"a flag's value before the first barrier counts", "comm/flags.go",
		"atomic.LoadUint64(s.flag)-s.base < f.number", "atomic.LoadUint64(s.flag) < f.number", 1000},
	{"every barrier has the same number", "comm/flags.go",
		"\tf.number++\n", "\tf.number = 1\n", 1000},
	{"a round leaves a rank out", "comm/flags.go",
		"for i := 1; i < radix && i*dist < size; i++ {", "for i := 1; i < radix-1 && i*dist < size; i++ {", 1000},
	{"one flag is enough", "comm/flags.go",
		"for ; f.next < len(r.sources); f.next++ {", "for ; f.next < 1; f.next++ {", 1000},
	{"a death does not end a barrier", "comm/flags.go",
		"\tif err := cmp.Or(f.in.P2P.DeadIn(f.context), f.in.P2P.Forbidden(f.context)); err != nil {\n\t\treturn err\n\t}\n\treturn f.in.Loop.Conn", "\t_ = cmp.Or[error]\n\treturn nil\n\treturn f.in.Loop.Conn", 1000},
	{"only the death of a rank that is looked at ends a barrier", "comm/flags.go",
		"\tif err := cmp.Or(f.in.P2P.DeadIn(f.context), f.in.P2P.Forbidden(f.context)); err != nil {\n\t\treturn err\n\t}\n\treturn f.in.Loop.Conn", "\t_ = cmp.Or[error]\n\treturn f.in.Loop.Conn", 1000},
	{"flags are used where the connection does not stand", "comm/flags.go",
		"\t\t\tcase err == fabric.ErrAgain:\n\t\t\t\treturn false, nil\n", "", 1000},
	{"the last flag of a round is not found", "comm/flags.go",
		"\t\tfor i := range r.sources {\n\t\t\ts, k :=", "\t\tfor i := range r.sources[1:] {\n\t\t\ts, k :=", 1000},
}

// callBugs are mistakes in the execution of plans, which tests find.
var callBugs = planted.List{
	{"a plan goes on before its messages have ended", "comm/icollective.go",
		"if step.Do == coll.Wait && x.open > 0 {", "if step.Do == coll.Wait && x.open > 1 {", "TestAPlanIsCarriedOut"},
	{"operands are swapped", "comm/collective.go",
		"o.Combine(m.at(step.A, o.Elem), m.at(step.B, o.Elem),", "o.Combine(m.at(step.B, o.Elem), m.at(step.A, o.Elem),", "TestAPlanIsCarriedOut"},
	{"operands of a nonblocking call are swapped", "comm/icollective.go",
		"lower, upper, to := x.mem.at(step.A, x.elem), x.mem.at(step.B, x.elem)", "lower, upper, to := x.mem.at(step.B, x.elem), x.mem.at(step.A, x.elem)", "TestAPlanIsCarriedOut"},
	{"all calls have one tag", "comm/collective.go",
		"int32(seq&seqMask)", "int32(seq&0)", "TestALaterCall"},
	{"an early abort is forgotten", "comm/lifetime.go",
		"\tnews, told := in.early[c.ID]\n", "\tnews, told := in.early[c.ID+1]\n", "TestAnAbortMay"},
	{"the first failure that is heard of counts", "comm/abort.go",
		"if !first && int32(seq-c.brokenFrom) >= 0 {", "if !first {", "TestTheEarliest"},
	{"an abort in a freed communicator is kept", "comm/abort.go",
		"} else if a.in.P2P.Freed(uint32(imm)) {", "} else if false {", "TestAnAbortInAFreed"},
	{"a shorter message passes", "comm/collective.go",
		"err == nil && res.Bytes != uint64(len(b))", "err == nil && res.Bytes > uint64(len(b))", "TestCountsThatDiffer"},
	{"a shorter message of several passes", "comm/collective.go",
		"x.rank >= 0 && end.Bytes != uint64(x.bytes)", "x.rank >= 0 && end.Bytes > uint64(x.bytes)", "TestCountsThatDiffer"},
	{"a shorter message passes in a nonblocking call", "comm/icollective.go",
		"err == nil && got != want", "err == nil && got > want", "TestCountsThatDiffer"},
	{"two goroutines are in a call", "comm/collective.go",
		"if !c.busy.CompareAndSwap(false, true) {", "if c.busy.Swap(true) && o == nil {", "TestASecondGoroutine"},
	{"a plan is found by its place alone", "comm/plans.go",
		"found != nil && found.key == *k {", "found != nil {", "TestAPlanIsThat"},
	{"a freed communicator's context stays forbidden", "comm/lifetime.go",
		"\t\tc.freed = true\n", "", "TestAnAbortMay"},
}

// creationBugs are mistakes in creations, which tests find.
var creationBugs = planted.List{
	{"ranks of one key are in any order", "comm/creation.go",
		"cmp.Compare(a.rank, b.rank))", "cmp.Compare(b.rank, a.rank))", "TestCreationsGive"},
	{"the key does not count", "comm/creation.go",
		"cmp.Or(cmp.Compare(a.key, b.key), ", "cmp.Or(", "TestCreationsGive"},
	{"a rank of no color is in one", "comm/creation.go",
		"case k.failed != nil || mine == NoColor:", "case k.failed != nil:", "TestCreationsGive"},
	{"a group's order is the parent's", "comm/creation.go",
		"mine, g, g.Rank(k.c.world(k.c.Rank))", "mine, g, k.c.Rank", "TestCreationsGive"},
	{"a failure counts at its own rank only", "comm/creation.go",
		"case outcome&outcomeFailed != 0:", "case outcome&outcomeFailed != 0 && k.failed != nil:", "TestACreationThatFails"},
	{"groups are not compared", "comm/creation.go",
		"first != mine || h != hash", "first != mine || h != hash && mine < 0", "TestACreationThatFails"},
	{"a group from outside is taken", "comm/creation.go",
		"k.failed = &OutsiderError{w}", "_ = w", "TestACreationThatFails"},
	{"an id is not given up", "comm/creation.go",
		"func (k *creation) close() {\n\tk.giveUp()\n", "func (k *creation) close() {\n", "TestACreationThatFails"},
}

// idBugs are those in context ids that TestPlantedBugsOfIds makes.
var idBugs = planted.List{
	{"an id is odd", "comm/ids.go",
		"g.draw() &^ 1;", "g.draw();", "TestDrawnIds"},
	{"the id of all ranks is drawn", "comm/ids.go",
		"id != 0 && id != pt2pt.Creation", "id != pt2pt.Creation", "TestDrawnIds"},
	{"the id of creations is drawn", "comm/ids.go",
		"id != 0 && id != pt2pt.Creation", "id != 0 && id != pt2pt.Creation+1", "TestDrawnIds"},
	{"ranks draw the same ids", "comm/ids.go",
		"rand.NewPCG(rand.Uint64(), uint64(rank))", "rand.NewPCG(1, 1)", "TestDrawnIds"},
	{"a clash is not seen", "comm/creation.go",
		"\t\tcase !k.c.P2P.Reserve(uint32(id)):\n\t\t\toutcome = outcomeClash\n", "\t\tcase !k.c.P2P.Reserve(uint32(id)):\n", "TestIdsThatClash"},
	{"a creation that has failed keeps its id", "comm/creation.go",
		"\t\tk.c.P2P.Unreserve(k.id)\n", "", "TestAFailedDup|TestIdsThatClash"},
}
