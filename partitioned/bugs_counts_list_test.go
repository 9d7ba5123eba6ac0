//go:build bugs

package partitioned

import "github.com/weft-mpi/weft/internal/testkit/planted"

const counted = "TestRoundsAndBlocksAreCounted"

// countBugs are those that make a counter wrong and change nothing else.
var countBugs = planted.List{
	{"early blocks are late", "partitioned/counts.go",
		"\tc.early += early\n\tc.late += n - early\n", "\tc.late += early\n\tc.early += n - early\n", counted},
	{"blocks that are ready when the receiver comes are late", "partitioned/send.go",
		"\t\t\t\tif s.goes {\n\t\t\t\t\ts.early += count\n\t\t\t\t}\n", "", counted},
	{"a later round keeps the early blocks of those before", "partitioned/send.go",
		"s.sent, s.early, s.active = 0, 0, true", "s.sent, s.active = 0, true", counted},
	{"a round that was sent counts as received", "partitioned/counts.go",
		"\tc.sent.rounds++\n", "\tc.received.rounds++\n", counted},
	{"a round that was received counts for each block", "partitioned/recv.go",
		"\tr.count += count\n\tdefer r.news.Add(1)\n", "\tr.count += count\n\tif r.count < got.shape.blocks() {\n\t\tr.countReceived(0)\n\t}\n\tdefer r.news.Add(1)\n", counted},
	{"the bytes of a round are not counted", "partitioned/counts.go",
		"\tr.e.counts.received.bytes += bytes\n", "", counted},
}
