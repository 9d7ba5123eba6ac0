//go:build bugs

package comm

import "github.com/weft-mpi/weft/internal/testkit/planted"

// treeBugs are those of the barrier of a tree.
var treeBugs = planted.List{
	{"a rank does not wait for the one above", "internal/comm/barrier.go",
		"\t\tall = append(all, hop{above, false})\n", "", "TestABarrierByATree"},
	{"a rank does not wait for those below it", "internal/comm/barrier.go",
		"\t\t\tall = append(all, hop{below, false})\n", "\t\t\t_ = below\n", "TestABarrierByATree"},
}

// countBugs are those that make a counter wrong and change nothing else.
var countBugs = planted.List{
	{"a barrier by flags is not counted", "internal/comm/barrier.go",
		"\t\t\tc.made.block(coll.Barrier, byFlagsToo)\n", "", "TestCallsOf"},
	{"a blocking call counts twice", "internal/comm/counts.go",
		"atomic.LoadUint64(n)+1) }", "atomic.LoadUint64(n)+2) }", "TestCallsOf"},
	{"a nonblocking call counts as blocking", "internal/comm/counts.go",
		"tableOf(&m.later)[call]", "tableOf(&m.blocking)[call]", "TestCallsOf"},
	{"the calls of a freed communicator are forgotten", "internal/comm/counts.go",
		"\t\tin.made.join(&c.made)\n\t\tdelete", "\t\tdelete", "TestCallsOf"},
	{"the calls of a freed communicator count twice", "internal/comm/counts.go",
		"\t\tdelete(in.live, c)\n", "", "TestCallsOf"},
	{"nonblocking calls are shown as blocking", "internal/comm/counts.go",
		`"I"+strings.ToLower(op[:1])+op[1:], name)`, `strings.ToUpper(op[:1])+op[1:], name)`, "TestCallsOf"},
	{"a rank is its own peer", "internal/comm/counts.go",
		"\t\tif rank == in.World.Rank {\n\t\t\tcontinue\n\t\t}\n", "", "TestCallsOf"},
	{"each transport serves one peer", "internal/comm/counts.go",
		"\t\tall[i].peers++\n", "\t\tall[i].peers = 1\n", "TestEachTransportServes"},
	{"all peers are served by the first one's transport", "internal/comm/counts.go",
		"return c.Domain == via", "return true", "TestEachTransportServes"},
}
