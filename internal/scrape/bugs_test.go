//go:build bugs

package scrape

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// bugs are mistakes in what is shown of a rank.
var bugs = planted.List{
	{"a rank that has left is gone", "internal/scrape/ranks.go",
		"\t\t\tk.gone = true\n", "\t\t\tk.gone, k.last = true, counters.Snapshot{}\n", "TestWhatIsShown"},
	{"a rank that has left keeps its gauges", "internal/scrape/ranks.go",
		"if k.gone && f.Gauge &&", "if false &&", "TestWhatIsShown"},
	{"a rank that has left loses its high-water marks", "internal/scrape/ranks.go",
		`f.Gauge && !strings.HasSuffix(f.Name, "_max")`, `f.Gauge && !strings.HasSuffix(f.Name, "_min")`, "TestWhatIsShown"},
	{"a rank that has come back stays gone", "internal/scrape/ranks.go",
		"r.rank[i].last, r.rank[i].gone = s, false", "r.rank[i].last = s", "TestWhatIsShown"},
	{"last words are not taken", "internal/peek/farewell.go",
		"r.Name.valid() && r.read(line) == nil", "r.Name.valid() && r.read(line) != nil", "TestTheFileHas"},
	{"Close does not wait for last words", "internal/peek/farewell.go",
		"\tl.hearing.Wait()\n", "\ttime.AfterFunc(farewellIn, l.hearing.Wait)\n", "TestTheFileHas"},
	{"an older reply undoes last words", "internal/scrape/ranks.go",
		"case k.place != before[i].place:", "case k.place < before[i].place:", "TestLastWordsAreNotUndone"},
	{"a busy rank is up", "internal/scrape/ranks.go",
		"\tif result.Err != nil || result.Error != \"\" || result.Busy > 0 {\n\t\treturn false", "\tif result.Err != nil || result.Error != \"\" || result.Busy > 0 {\n\t\treturn result.Busy > 0", "TestUpIsThatOfTheReply"},
	{"a stranger is believed", "internal/scrape/ranks.go",
		"result.UID != uint32(os.Geteuid()) {\n\t\treturn false", "result.UID != uint32(os.Geteuid()) {\n\t\treturn true", "TestUpIsThatOfTheReply"},
	{"nonsense is taken", "internal/scrape/ranks.go",
		"\t\t\tr.warn(fmt.Errorf(\"the counters of rank %d are not shown: %w\", i, err))\n\t\t}\n\t\treturn false", "\t\t\tr.warn(fmt.Errorf(\"the counters of rank %d are not shown: %w\", i, err))\n\t\t}\n\t\treturn true", "TestUpIsThatOfTheReply"},
}

// The tests find every planted bug, and nothing where none is planted.
func TestPlantedBugs(t *testing.T) {
	planted.Tests{}.Hunt(t, bugs)
}
