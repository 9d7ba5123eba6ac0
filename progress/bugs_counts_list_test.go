//go:build bugs

package progress

import "github.com/weft-mpi/weft/internal/testkit/planted"

// countBugs are those that make a counter wrong and change nothing else.
var countBugs = planted.List{
	{"the times of failed requests count", "progress/timed.go",
		"if r.err != nil || r.sink == nil {", "if r.sink == nil {", "TestSomeRequestsAreTimed"},
	{"a class has its times twice", "progress/timed.go",
		"\tl.times[i].Add(took)\n", "\tl.times[i].Add(took)\n\tl.times[i].Add(took)\n", "TestSomeRequestsAreTimed"},
	{"a long request has taken a short time", "progress/timed.go",
		"time.Duration(timeline.Now()-r.start)", "time.Duration(uint32(timeline.Now()-r.start))", "TestALongTime"},
	{"looks that found something are those that did not", "progress/observe.go",
		`s.Add(polls, l.found, "true")`, `s.Add(polls, l.passes-l.found, "true")`, "TestTheLoopsCounts"},
	{"every look counts as one that found something", "progress/loop.go",
		"\tif n > 0 {\n\t\tl.found++\n\t}\n", "\tl.found++\n", "TestTheLoopsCounts"},
	{"what waits for room is counted once it has gone", "progress/conn.go",
		"\tc.loop.counts.waited++\n\tif c.head == nil {", "\tif c.head == nil {\n\t\tc.loop.counts.waited++", "TestTheLoopsCounts"},
	{"the backlog is that of the first peer's first", "progress/observe.go",
		"for p := c.head; p != nil; p = p.next {", "if c.head != nil {", "TestTheLoopsCounts"},
	{"the time without room goes on", "progress/conn.go",
		"l.counts.room.Set(len(l.backlogged) > 0)", "l.counts.room.Start()", "TestTheLoopsCounts"},
	{"a stopwatch goes on after the end", "progress/domains.go",
		"\t\ts.End()\n", "\t\ts.Stop()\n", "TestTheLoopsCounts"},
	{"a peer that has left counts as dead", "progress/deliver.go",
		"\t\tl.counts.down[1]++\n", "\t\tl.counts.down[0]++\n", "TestTheLoopsCounts"},
	{"a peer that has died is not counted", "progress/deliver.go",
		"\t\tl.counts.down[0]++\n", "", "TestTheLoopsCounts"},
	{"the counters of a transport end with it", "progress/domains.go",
		"\td.Stats(&c.last)\n", "", "TestTheLoopsCounts"},
	{"a gauge of a transport is named as a counter", "progress/observe.go",
		"\t\t\tif !c.Gauge {\n", "\t\t\tif c.Gauge {\n", "TestTheLoopsCounts"},
}
