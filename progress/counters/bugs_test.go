//go:build bugs

package counters

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// bugs are mistakes in what is counted.
var bugs = planted.List{
	{"a bound is in the bucket above it", "progress/counters/histogram.go",
		"return bits.Len64(2*n-1) & 63", "return bits.Len64(2*n) & 63", "TestBucketsEnd"},
	{"zero is in the bucket of one", "progress/counters/histogram.go",
		"return bits.Len64(2*n-1) & 63", "return max(bits.Len64(2*n-1)&63, 1)", "TestBucketsEnd"},
	{"the sum counts a value as one", "progress/counters/histogram.go",
		"\th.Sum += n\n", "\th.Sum++\n", "TestBucketsEnd"},
	{"joined histograms keep one's buckets", "progress/counters/histogram.go",
		"\t\th.Buckets[i] += b\n", "\t\th.Buckets[i] = b\n", "TestBucketsEnd"},
	{"joined histograms keep one's sum", "progress/counters/histogram.go",
		"\th.Sum += o.Sum\n", "", "TestBucketsEnd"},
	{"a stopwatch that goes on begins anew", "progress/counters/stopwatch.go",
		"if !s.on && !s.ended {", "if !s.ended {", "TestAStopwatch"},
	{"a stopwatch forgets earlier stretches", "progress/counters/stopwatch.go",
		"s.total += monotonic() - s.since\n\t}\n}", "s.total = monotonic() - s.since\n\t}\n}", "TestAStopwatch"},
	{"the stretch under way is not shown", "progress/counters/stopwatch.go",
		"\tif s.on {\n\t\ttotal += monotonic() - s.since\n", "\tif s.on {\n\t\t_ = total\n", "TestAStopwatch"},
	{"a stopwatch starts again after its end", "progress/counters/stopwatch.go",
		"if !s.on && !s.ended {", "if !s.on {", "TestAStopwatch"},
}

// The tests find every planted bug, and nothing where none is planted.
func TestPlantedBugs(t *testing.T) {
	planted.Tests{}.Hunt(t, bugs)
}
