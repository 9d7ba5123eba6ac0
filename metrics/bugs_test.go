//go:build bugs

package metrics_test

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// The tests that find the bugs.
const (
	works = "TestTheCountersTell"
	exact = "TestHistogramsAreExact"
)

// bugs are those that make a counter of windows, or what is shown of a counter, wrong and
// change nothing else.
var bugs = planted.List{
	{"a put counts as a get", "rma/counts.go",
		"case code == codeBytes && result:", "case code == codeBytes && !result:", works},
	{"an operation in packets counts as one of the fabric", "rma/counts.go",
		"\tif o.sent > 0 {\n", "\tif o.sent > o.n {\n", works},
	{"an operation counts twice", "rma/action.go",
		"\t\to.count()\n", "\t\to.count()\n\t\to.count()\n", works},
	{"operations are not counted", "rma/action.go",
		"\tif err == nil {\n\t\to.count()\n\t}\n", "", works},
	{"the bytes of operations are their number", "rma/counts.go",
		"\tt.bytes += uint64(n)\n", "\tt.bytes++\n", works},
	{"a packet that is carried out counts twice", "rma/serve.go",
		"\te.counts.served[mannerOf(code, false, false)].add(len(body))\n", "\te.counts.served[mannerOf(code, false, false)].add(len(body))\n\te.counts.served[mannerOf(code, false, false)].add(len(body))\n", works},
	{"a packet that is answered is not counted", "rma/serve.go",
		"\te.counts.served[mannerOf(code, true, kind == wire.RCas)].add(int(n))\n", "", works},
	{"a compare-and-swap is served as an accumulate", "rma/serve.go",
		"served[mannerOf(code, true, kind == wire.RCas)]", "served[mannerOf(code, true, false)]", works},
	{"a freed window stays", "rma/counts.go",
		`uint64(len(e.wins)))`, `uint64(len(e.wins)+1))`, works},
	{"messages of the other direction", "internal/pt2pt/counts.go",
		"s.Add(messages, n, name, pathNames[p], way.name)", `s.Add(messages, n, name, pathNames[p], "sent")`, works},
	{"the histogram of sizes has one way's messages", "internal/pt2pt/counts.go",
		"\t\t\t\t\tall.Join(t)\n", "\t\t\t\t\tif p == pathEager {\n\t\t\t\t\t\tall.Join(t)\n\t\t\t\t\t}\n", works},

	{"classic buckets end one power too early", "metrics/histogram.go",
		"next <= p+shift+1", "next <= p+shift", exact},
	{"classic buckets are not cumulative", "metrics/histogram.go",
		"cumulative, bound := below, math.Ldexp(1, p)", "cumulative, bound := below, math.Ldexp(1, p)\n\t\tbelow = 0", exact},
	{"native buckets are those of another schema", "metrics/histogram.go",
		"index := int32(i - 1 - shift)", "index := int32(i - shift)", "TestBoundsAreOf"},
	{"native buckets are no differences", "metrics/histogram.go",
		"out.PositiveDelta = append(out.PositiveDelta, n-before)", "out.PositiveDelta = append(out.PositiveDelta, n-0*before)", exact},
	{"the sum of seconds is in other units", "metrics/histogram.go",
		"return counters.HistogramSecond, 30", "return 1e9, 30", exact},
	{"a high-water mark is summed up", "metrics/sum.go",
		`f.Gauge && strings.HasSuffix(f.Name, "_max")`, "false", "TestManyRanksAreSummedUp"},
	{"the sum over ranks has the first one's histogram", "metrics/sum.go",
		"\t\t\tto.Buckets[i] += n\n", "\t\t\t_, _ = i, n\n", "TestManyRanksAreSummedUp"},
	{"a sum changes the snapshot of a rank", "metrics/sum.go",
		"\t\t\t\t\town := *r.Buckets\n\t\t\t\t\tr.Buckets = &own\n", "", "TestASumLeavesTheRanksAlone"},
	{"nanoseconds are shown as seconds", "metrics/emitter.go",
		"\t\tv /= 1e9\n", "", "TestSecondsAreShownAsSeconds"},
	{"a gauge is shown as a counter", "metrics/emitter.go",
		"\t\tkind = prometheus.GaugeValue\n", "", "TestSecondsAreShownAsSeconds"},
}

// The tests find every planted bug, and nothing where none is planted.
func TestPlantedBugs(t *testing.T) {
	planted.Tests{}.Hunt(t, bugs)
}
